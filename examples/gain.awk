# Of the CSV of `wafer sweep` or `compare`, two rows at a time: the rate of the second over that of the
# first, behind `name`, or what stands in the column `label`.
BEGIN { FS = "," }
NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
{ rate = $at["samples_per_second"] }
NR % 2 == 0 { first = rate; next }
{ printf "%-16s %.2f times\n", name ? name : label " " $at[label], rate / first }
