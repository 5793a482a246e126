# The roofline of a page of `wafer report` as a picture of its own, with the page's colours.
/<style>/ { styled = 1 }
styled { style = style $0 "\n" }
/<\/style>/ { styled = 0 }
/<section id="roofline"/ { wanted = 1 }
wanted && /<svg/ { drawing = 1; print; printf "%s", style; next }
drawing { print }
drawing && /<\/svg>/ { exit }
