#include "wafer/report/chart.h"
#include "wafer/report/html_parts.h"
#include "wafer/report/wafer_map.h"

namespace wafer::report {

std::string page_style() {
  return chart_style() + map_style() + R"css(
:root { color-scheme: light dark; --accent: #005a9e; --raised: #f6f7f9; --warn: #8a4b00; }
@media (prefers-color-scheme: dark) { :root { --accent: #7cc4ff; --raised: #1b1f26; --warn: #f0b56b; } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-padding-top: 16px; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
.sheet { max-width: 924px; margin: 0 auto; padding: 40px 32px 56px; }
h1, h2, h3 { line-height: 1.25; text-wrap: balance; }
h1 { font-size: 32px; letter-spacing: -.015em; margin: 4px 0 6px; overflow-wrap: anywhere; }
h2 { font-size: 21px; letter-spacing: -.008em; margin: 0 0 10px; }
h3 { font-size: 16px; margin: 24px 0 6px; overflow-wrap: anywhere; }
p { margin: 0 0 12px; max-width: 72ch; }
a { color: var(--accent); text-underline-offset: 2px; }
a:focus-visible, .scroll:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.eyebrow { color: var(--quiet); font-size: 14px; margin: 0; }
.lead { font-size: 18px; color: var(--quiet); margin-bottom: 20px; overflow-wrap: anywhere; }
.note, figcaption { color: var(--quiet); font-size: 14px; line-height: 1.5; }
.warn { color: var(--warn); }
nav { display: flex; flex-wrap: wrap; gap: 4px 14px; font-size: 13.5px; padding: 10px 0 12px;
  border-block: 1px solid var(--rule); margin-bottom: 28px; }
nav a { text-decoration: none; }
nav a:hover { text-decoration: underline; }
section { margin: 0 0 44px; }
.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(186px, 1fr)); margin: 0 0 20px;
  border-top: 1px solid var(--rule); }
.figures > div { padding: 12px 16px 12px 0; border-bottom: 1px solid var(--rule); }
.figures dt { font-size: 14px; color: var(--quiet); }
.figures dd { margin: 0; }
.figures .value { font-size: 26px; line-height: 1.3; font-weight: 600; letter-spacing: -.015em;
  font-variant-numeric: tabular-nums; }
.figures .error { font-size: 13px; line-height: 1.4; color: var(--quiet); }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: 4px 24px; margin: 0; font-size: 15px; }
.facts dt { color: var(--quiet); }
.facts dd { margin: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
figure { margin: 0 0 18px; }
figure svg { display: block; width: 100%; height: auto; }
figcaption { margin-top: 6px; max-width: 76ch; }
.narrow { display: none; }
.scroll { overflow-x: auto; margin: 0 0 14px; }
table { border-collapse: collapse; font-size: 14px; line-height: 1.4; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--quiet); padding-bottom: 6px; }
th, td { text-align: left; padding: 6px 18px 6px 0; border-bottom: 1px solid var(--rule);
  vertical-align: baseline; }
th:last-child, td:last-child { padding-right: 0; }
thead th { color: var(--quiet); font-weight: 500; border-bottom-color: var(--quiet); vertical-align: bottom; }
tbody th { font-weight: 500; white-space: nowrap; }
td.short { white-space: nowrap; }
th.number, td.number { text-align: right; white-space: nowrap; }
thead th.number { white-space: normal; }
ul, ol { margin: 0 0 12px; padding-left: 22px; max-width: 76ch; }
ol { color: var(--quiet); font-size: 14px; }
li { overflow-wrap: anywhere; }
details { margin: 0 0 14px; }
.wafer-map { max-width: 860px; }
summary { cursor: pointer; color: var(--accent); font-size: 15px; }
code, pre { font: 13px/1.5 ui-monospace, "SF Mono", Consolas, "Liberation Mono", monospace; }
pre { background: var(--raised); border-radius: 6px; padding: 10px 12px; overflow-x: auto;
  white-space: pre-wrap; overflow-wrap: anywhere; margin: 0 0 12px; }
footer { border-top: 1px solid var(--rule); padding-top: 14px; color: var(--quiet); font-size: 13px; }
@media (max-width: 640px) {
  .sheet { padding: 20px 16px 32px; }
  h1 { font-size: 25px; }
  .lead { font-size: 16px; }
  .wide { display: none; }
  .narrow { display: block; }
  .figures { grid-template-columns: 1fr 1fr; }
  .figures > div { padding: 10px 12px 10px 0; }
  .figures .value { font-size: 20px; }
  .facts { grid-template-columns: 1fr; gap: 0; }
  .facts dd { margin-bottom: 8px; }
}
@media print {
  :root { --ink: #000; --quiet: #444; --rule: #ccc; --page: #fff; --track: #eee; --raised: #f4f4f4;
    --accent: #000; --warn: #000; color-scheme: light; --c0: #0072b2; --c1: #c85200; --c2: #00805c;
    --c3: #a8518a; --c4: #8f6c00; --c5: #56606d; --c6: #6a4fb3; }
  body { font-size: 10.5pt; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  .sheet { max-width: none; padding: 0; }
  nav { display: none; }
  .wide { display: block; }
  .narrow { display: none; }
  .scroll { overflow: visible; }
  table { font-size: 8pt; max-width: 100%; }
  th, td { padding-right: 8px; }
  td:not(.short):not(.number) { overflow-wrap: anywhere; }
  table:not(:has(tbody tr:nth-child(15))) { break-inside: avoid; }
  details::details-content { content-visibility: visible; display: block; }
  figcaption, p, li { orphans: 3; widows: 3; }
  figure, .figures, tr { break-inside: avoid; }
  h2, h3, caption { break-after: avoid; }
}
)css" + "@media print { :root {" +
         map_colours_on_light() + " } }\n";
}

}  // namespace wafer::report
