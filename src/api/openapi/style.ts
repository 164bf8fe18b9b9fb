/**
 * The style sheet of the API page, inline and allowed by its hash. Its colours are those of the pages for people
 * (`web/style/base.css`, which this folder may not read; a test compares them), with a contrast of 4.5 to 1 or more.
 */
export const style = `
:root{color-scheme:light dark;--bg:#f6f3ec;--panel:#fffdf9;--ink:#1d2624;--soft:#535f5b;--line:#e0dacd;--accent:#1b5a4b;--get:#1a5793;--post:#1b5a4b;--code:#efebe1;--serif:ui-serif,"Iowan Old Style",Palatino,"Palatino Linotype",Georgia,"Noto Serif",serif}
@media (prefers-color-scheme:dark){:root{--bg:#121817;--panel:#1a2221;--ink:#e8edea;--soft:#a6b3ae;--line:#2d3836;--accent:#83d3bb;--get:#92c1f2;--post:#83d3bb;--code:#0e1312}}
@media (prefers-contrast:more){:root{--soft:var(--ink);--line:var(--ink)}}
*{box-sizing:border-box}
html{scroll-padding-top:1rem}
body{margin:0;background:var(--bg);color:var(--ink);font:1rem/1.6 system-ui,sans-serif}
body::before{content:"";display:block;height:.1875rem;background:linear-gradient(90deg,var(--accent),#d9a441,var(--accent))}
a{color:var(--accent)}
a:focus-visible,summary:focus-visible{outline:3px solid var(--accent);outline-offset:2px;border-radius:4px}
.home{display:inline-flex;align-items:center;min-height:2.75rem;color:var(--ink);font:600 1.25rem/1.2 var(--serif);text-decoration:none}
.home:hover{text-decoration:underline}
.skip{position:absolute;left:-999px}
.skip:focus{left:1rem;top:1rem;background:var(--panel);padding:.5rem 1rem}
.page{display:grid;grid-template-columns:minmax(0,1fr);max-width:76rem;margin:0 auto;padding:1rem}
header{padding:1.5rem 0 .5rem}
h1{font:500 clamp(1.875rem,1.5rem + 2vw,2.75rem)/1.15 var(--serif);letter-spacing:-.012em;margin:.5rem 0 .25rem}
h2{font:500 1.625rem/1.3 var(--serif);margin:2.5rem 0 .75rem}
main section:first-child h2{margin-top:1rem}
h3{font-size:1.05rem;margin:0}
h4{font-size:.95rem;margin:1.25rem 0 .4rem}
p{margin:.5rem 0;max-width:46rem}
nav{border:1px solid var(--line);border-radius:.875rem;background:var(--panel);padding:.75rem 1rem}
nav p{font-weight:600;margin:.75rem 0 .2rem;color:var(--soft)}
nav ul{list-style:none;margin:0;padding:0}
nav li{padding:.15rem 0}
nav a{text-decoration:none}
nav a:hover{text-decoration:underline}
article{border:1px solid var(--line);border-radius:.875rem;background:var(--panel);padding:1rem 1.1rem;margin:0 0 1rem}
.line{font-family:ui-monospace,monospace;font-size:.92rem;overflow-wrap:anywhere;margin:.35rem 0}
.method{font-weight:700;color:var(--post)}
.get{color:var(--get)}
.soft{color:var(--soft);font-size:.92rem}
code,pre{font-family:ui-monospace,monospace;font-size:.87rem}
code{background:var(--code);border-radius:4px;padding:.05rem .3rem;overflow-wrap:anywhere}
pre{background:var(--code);border:1px solid var(--line);border-radius:8px;padding:.75rem;margin:.4rem 0;white-space:pre-wrap;overflow-wrap:anywhere}
pre code{background:none;padding:0}
dl{margin:.25rem 0}
dt{margin-top:.5rem;overflow-wrap:anywhere}
dd{margin:0 0 0 1rem;color:var(--soft)}
details{border-top:1px solid var(--line);padding:.4rem 0}
summary{cursor:pointer;overflow-wrap:anywhere}
.status{font-weight:700;margin-right:.4rem}
@media (min-width:60rem){.page{grid-template-columns:17rem minmax(0,1fr);column-gap:2.5rem}header{grid-column:1/-1}nav{position:sticky;top:1rem;align-self:start;max-height:calc(100vh - 2rem);overflow:auto}}
@media print{nav{display:none}}
`;
