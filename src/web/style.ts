/**
 * The look: one small style sheet, set inline and admitted by its hash.
 *
 * Owns: colours, type, spacing. Invariant: nothing is loaded, system fonts only; text contrast is at least 4.5 : 1 and
 * that of borders and focus marks 3 : 1 in both colour schemes (WCAG 2.2 AA); the policy's hash is computed from the very
 * text that the page carries, so that page and policy cannot drift apart.
 */
import { createHash } from 'node:crypto';

const light =
  '--paper:#f7f5f0;--sheet:#fffefb;--ink:#1e2826;--soft:#55625e;--line:#7d8884;--hair:#dcd9cf;--leaf:#1c5b4c;--on-leaf:#fff;--leaf-hover:#144539;--alarm:#9a2b1e;--alarm-soft:#fbeeea';
const dark =
  '--paper:#131918;--sheet:#1b2322;--ink:#e7ecea;--soft:#a5b2ad;--line:#71807b;--hair:#2d3836;--leaf:#83d3bb;--on-leaf:#0c1513;--leaf-hover:#a5e2d0;--alarm:#ff9e8b;--alarm-soft:#2e1d1a';

const rules = `
:root{color-scheme:light dark;${light}}
@media(prefers-color-scheme:dark){:root{${dark}}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;min-height:100vh;min-height:100svh;display:flex;flex-direction:column;background:var(--paper);color:var(--ink);font:1.0625rem/1.6 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;overflow-wrap:break-word}
header,main,footer{width:100%;max-width:42rem;margin:0 auto;padding:0 1.25rem}
header{padding-top:1.5rem}
main{flex:1;padding-top:clamp(1.5rem,6vh,4rem);padding-bottom:3rem}
footer{padding-top:1.25rem;padding-bottom:1.75rem;color:var(--soft);font-size:.9375rem}
a{color:var(--leaf);text-underline-offset:.2em}
a:hover{text-decoration-thickness:.125em}
.brand{display:inline-flex;align-items:center;gap:.625rem;min-height:2.75rem;color:var(--ink);text-decoration:none;font:600 1.125rem/1 ui-serif,"Iowan Old Style",Palatino,Georgia,serif}
.brand svg{width:1.75rem;height:1.75rem;color:var(--leaf)}
h1{margin:0 0 .75rem;font:500 clamp(1.875rem,1.5rem + 2vw,2.625rem)/1.15 ui-serif,"Iowan Old Style",Palatino,Georgia,serif;letter-spacing:-.012em;text-wrap:balance}
h2{margin:0 0 .5rem;font-size:1.0625rem;line-height:1.4}
p{margin:0 0 1rem;text-wrap:pretty}
.lead{font-size:1.1875rem;line-height:1.5;color:var(--soft)}
.sheet{margin:1.75rem 0;padding:clamp(1.125rem,4vw,1.75rem);background:var(--sheet);border:1px solid var(--hair);border-radius:.875rem}
.sheet>:last-child,.note>:last-child{margin-bottom:0}
.field{margin:0 0 1.375rem}
label{display:block;margin-bottom:.25rem;font-weight:600}
label span{font-weight:400;color:var(--soft)}
.hint{margin:.375rem 0 0;color:var(--soft);font-size:.9375rem;line-height:1.45}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,15rem),1fr));gap:0 1.25rem}
input,textarea,select{display:block;width:100%;min-height:2.875rem;padding:.625rem .75rem;background:var(--paper);color:inherit;border:1px solid var(--line);border-radius:.5rem;font:inherit}
textarea{font:.9375rem/1.55 ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;overflow-wrap:anywhere}
input,select{height:2.875rem}
textarea{min-height:9.5rem;max-height:60vh;resize:vertical;white-space:pre-wrap;field-sizing:content}
.value{min-height:6rem;max-height:70vh}
.link{min-height:0}
[aria-invalid=true]{border-color:var(--alarm);box-shadow:0 0 0 1px var(--alarm)}
.wrong{margin:.375rem 0 0;color:var(--alarm);font-size:.9375rem;font-weight:600;line-height:1.45}
button,.button{display:inline-block;min-height:2.875rem;padding:.625rem 1.375rem;border:1px solid var(--leaf);border-radius:.5rem;background:var(--leaf);color:var(--on-leaf);font:inherit;font-weight:600;line-height:1.5;text-align:center;text-decoration:none;cursor:pointer}
button:hover,.button:hover{background:var(--leaf-hover);border-color:var(--leaf-hover)}
.quiet{background:none;border-color:var(--line);color:var(--ink)}
.quiet:hover{background:none;border-color:var(--ink)}
.alarm{background:var(--alarm);border-color:var(--alarm);color:var(--sheet)}
.alarm:hover{background:var(--ink);border-color:var(--ink);color:var(--paper)}
.row{display:flex;flex-wrap:wrap;gap:.75rem;align-items:center;margin:1.5rem 0}
.note{margin:1.75rem 0;padding:.875rem 1.125rem;border-left:.25rem solid var(--leaf);background:var(--sheet);border-radius:0 .5rem .5rem 0}
.note.alert{border-color:var(--alarm);background:var(--alarm-soft)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.375rem 1.25rem;margin:1.75rem 0 1.5rem}
dt{color:var(--soft)}
dd{margin:0}
:focus-visible{outline:3px solid var(--leaf);outline-offset:2px}
@media(max-width:30rem){dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.625rem}.row>*,.row button,form>button{width:100%}}
@media(forced-colors:active){button,.button,.sheet,.note{border:1px solid}}
@media print{header,footer,form{display:none}.value{max-height:none}}
`;

export const styleText = rules.replaceAll('\n', '');

export const styleHash = `sha256-${createHash('sha256').update(styleText).digest('base64')}`;
