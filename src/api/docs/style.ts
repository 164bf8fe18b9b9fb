/**
 * The look of the API page: one style sheet, inline, allowed by its hash.
 *
 * Owns: the colours, in a light and a dark set with a contrast of 4.5 to 1 or more, and the layout from a phone up.
 */
export const style = `
:root{color-scheme:light dark;--bg:#fbfbf9;--panel:#fff;--ink:#1d2420;--soft:#566159;--line:#dcdfd8;--accent:#0b6146;--get:#1a5fa8;--post:#0b6146;--code:#f1f3ee}
@media (prefers-color-scheme:dark){:root{--bg:#121613;--panel:#1a201c;--ink:#e6ebe6;--soft:#a3afa6;--line:#313a34;--accent:#6fd3ab;--get:#86b9f0;--post:#6fd3ab;--code:#0e120f}}
*{box-sizing:border-box}
html{scroll-padding-top:1rem}
body{margin:0;background:var(--bg);color:var(--ink);font:1rem/1.6 system-ui,sans-serif}
a{color:var(--accent)}
a:focus-visible,summary:focus-visible{outline:3px solid var(--accent);outline-offset:2px;border-radius:4px}
.skip{position:absolute;left:-999px}
.skip:focus{left:1rem;top:1rem;background:var(--panel);padding:.5rem 1rem}
.page{display:grid;grid-template-columns:minmax(0,1fr);max-width:76rem;margin:0 auto;padding:1rem}
header{padding:1.5rem 0 .5rem}
h1{font-size:1.9rem;line-height:1.2;margin:0 0 .25rem}
h2{font-size:1.35rem;margin:2.5rem 0 .75rem}
main section:first-child h2{margin-top:1rem}
h3{font-size:1.05rem;margin:0}
h4{font-size:.95rem;margin:1.25rem 0 .4rem}
p{margin:.5rem 0;max-width:46rem}
nav{border:1px solid var(--line);border-radius:10px;background:var(--panel);padding:.75rem 1rem}
nav p{font-weight:600;margin:.75rem 0 .2rem;color:var(--soft)}
nav ul{list-style:none;margin:0;padding:0}
nav li{padding:.15rem 0}
nav a{text-decoration:none}
nav a:hover{text-decoration:underline}
article{border:1px solid var(--line);border-radius:10px;background:var(--panel);padding:1rem 1.1rem;margin:0 0 1rem}
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
