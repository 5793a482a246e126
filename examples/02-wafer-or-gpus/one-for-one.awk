# Of the CSV of `wafer compare`: what one system of each row does, in systems of the first row.
BEGIN { FS = "," }
NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
{ rate = $at["samples_per_second"] / $at["systems"] }
NR == 2 { first = $at["name"]; unit = rate; next }
{ printf "one of %s does the work of %.1f of %s\n", $at["name"], rate / unit, first }
