import{a}from"./shared-PF2M4KPR.js";var t=a`
:host {
--bg: var(--audit-background, light-dark(#ffffff, #14181d));
--surface: var(--audit-surface, light-dark(#f6f7f9, #1b2027));
--raised: var(--audit-raised, light-dark(#ffffff, #20262e));
--text: var(--audit-text, light-dark(#1c2430, #e3e8ee));
--muted: var(--audit-muted, light-dark(#5a6675, #9aa6b4));
--border: var(--audit-border, light-dark(#dfe3e8, #323a45));
--control: var(--audit-control-border, light-dark(#858f9b, #6b7785));
--accent: var(--audit-accent, light-dark(#1f5f99, #7db8ee));
--on-accent: var(--audit-on-accent, light-dark(#ffffff, #10202f));
--selected: var(--audit-selected, light-dark(#e8f0f8, #23303d));
--good: var(--audit-good, light-dark(#1c6b3c, #7fd3a0));
--good-bg: var(--audit-good-background, light-dark(#e6f4ea, #17301f));
--bad: var(--audit-bad, light-dark(#a8261f, #ff9d94));
--bad-bg: var(--audit-bad-background, light-dark(#fdebea, #3a1a19));
--warn: var(--audit-warn, light-dark(#7a4b00, #efc070));
--warn-bg: var(--audit-warn-background, light-dark(#fff4de, #33270f));
--auth: var(--audit-category-auth, light-dark(#3576b8, #6aaae8));
--access: var(--audit-category-access, light-dark(#1f8a7d, #4fc0b1));
--mutation: var(--audit-category-mutation, light-dark(#b57a12, #dda94a));
--admin: var(--audit-category-admin, light-dark(#7b58b3, #ae90e0));
--security: var(--audit-category-security, light-dark(#c2423b, #f0837b));
--system: var(--audit-category-system, light-dark(#6d7885, #97a3b0));
--font: var(--audit-font, system-ui, "Segoe UI", Roboto, "Helvetica Neue", sans-serif);
--mono: var(--audit-mono-font, ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, monospace);
--size: var(--audit-font-size, 13px);
--radius: var(--audit-radius, 6px);
font: var(--size) / 1.45 var(--font);
color: var(--text);
}
*, *::before, *::after { box-sizing: border-box; }
[hidden] { display: none !important; }
button, input, select, textarea { font: inherit; color: inherit; }
button, .button {
display: inline-flex; align-items: center; gap: 6px; min-height: 30px; padding: 3px 10px; white-space: nowrap;
border: 1px solid var(--border); border-radius: var(--radius); background: var(--raised); cursor: pointer; text-decoration: none;
color: inherit;
}
button:hover:not(:disabled), .button:hover { background: var(--selected); }
button:disabled { opacity: 0.55; cursor: default; }
button.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
button.primary:hover:not(:disabled) { filter: brightness(1.08); background: var(--accent); }
button.danger { color: var(--bad); border-color: currentColor; }
button.plain { border-color: transparent; background: transparent; }
button.icon { padding: 3px 7px; }
button[aria-pressed="true"] { background: var(--selected); border-color: var(--accent); }
input, select, textarea {
min-height: 30px; padding: 3px 8px; border: 1px solid var(--control); border-radius: var(--radius); background: var(--bg);
min-width: 0; max-width: 100%;
}
input[type="checkbox"] { min-height: 0; accent-color: var(--accent); }
textarea { font-family: var(--mono); line-height: 1.5; }
:is(button, input, select, textarea, a, [tabindex], summary):focus-visible {
outline: 2px solid var(--accent); outline-offset: 1px;
}
a { color: var(--accent); }
code, pre, .mono { font-family: var(--mono); font-size: 0.94em; }
.muted { color: var(--muted); }
.visually-hidden {
position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap;
}
.dot { display: inline-block; width: 8px; height: 8px; border-radius: 50%; background: var(--system); flex: none; }
.dot.auth { background: var(--auth); } .dot.access { background: var(--access); } .dot.mutation { background: var(--mutation); }
.dot.admin { background: var(--admin); } .dot.security { background: var(--security); }
.dot { forced-color-adjust: none; print-color-adjust: exact; }
@media (forced-colors: active) {
button[aria-pressed="true"] { background: Highlight; color: HighlightText; border-color: Highlight; forced-color-adjust: none; }
.notice { border: 1px solid; }
}
.notice { display: flex; flex-wrap: wrap; gap: 8px 12px; align-items: center; padding: 8px 12px; border-radius: var(--radius);
background: var(--warn-bg); color: var(--warn); }
.notice.bad { background: var(--bad-bg); color: var(--bad); }
.notice.good { background: var(--good-bg); color: var(--good); }
@media (prefers-reduced-motion: no-preference) {
.spinner::before { animation: turn 0.9s linear infinite; }
}
.spinner::before {
content: ""; display: inline-block; width: 12px; height: 12px; margin-inline-end: 8px; vertical-align: -1px; border-radius: 50%;
border: 2px solid var(--border); border-top-color: var(--accent);
}
@keyframes turn { to { transform: rotate(1turn); } }
`,o=a`
:host { color-scheme: light dark; }
:host([theme="light"]) { color-scheme: light; }
:host([theme="dark"]) { color-scheme: dark; }
@media print { :host, :host([theme]) { color-scheme: light; } }
`;export{t as a,o as b};
