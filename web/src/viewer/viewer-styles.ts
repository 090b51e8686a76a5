import { css } from "lit";

export const viewerStyles = css`
  :host {
    display: flex; flex-direction: column; height: var(--audit-height, 640px); min-height: 320px; background: var(--bg); overflow: hidden auto;
  }
  .root { display: flex; flex-direction: column; flex: 1; position: relative; }
  .top { padding: 10px 12px 8px; border-bottom: 1px solid var(--border); }
  .tools { display: flex; flex-wrap: wrap; gap: 6px; margin-inline-start: auto; }
  .chart { padding: 8px 12px 2px; border-bottom: 1px solid var(--border); }
  .messages > * { margin: 8px 12px; }
  /* The list never vanishes: where its minimum does not fit, the viewer scrolls, or the page around it. */
  .main { display: flex; flex: 1 0 auto; min-height: 200px; contain: size; position: relative; }
  @media (max-height: 500px) { .main { min-height: min(300px, 100dvh - 40px); } }
  .list { display: flex; flex-direction: column; flex: 1; min-width: 0; min-height: 0; position: relative; }
  .grid { flex: 1; overflow-y: auto; overflow-x: hidden; overflow-anchor: none; min-height: 0; }
  .grid:focus-visible { outline: 2px solid var(--accent); outline-offset: -2px; }
  .head, .line { display: grid; grid-template-columns: 172px minmax(150px, var(--action-share, 1.3fr)) 110px minmax(100px, 1fr) minmax(100px, 1fr); gap: 12px;
    align-items: center; padding: 0 12px; }
  .tenants :is(.head, .line) { grid-template-columns: 172px minmax(150px, var(--action-share, 1.3fr)) 110px minmax(100px, 1fr) minmax(100px, 1fr) minmax(90px, 0.7fr); }
  .head { height: 30px; color: var(--muted); font-size: 0.88em; font-weight: 600; background: var(--surface);
    border-bottom: 1px solid var(--border); }
  .columns { position: sticky; top: 0; z-index: 1; }
  .line { height: 34px; border-bottom: 1px solid color-mix(in srgb, var(--border) 55%, transparent); cursor: pointer; }
  .line:hover { background: var(--surface); }
  .line.active { box-shadow: inset 3px 0 var(--accent); }
  [dir="rtl"] .line.active { box-shadow: inset -3px 0 var(--accent); }
  .line.open { background: var(--selected); }
  .line > div { min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
  .line .action { display: flex; align-items: center; gap: 8px; font-weight: 500; }
  /* Sentences are longer than names of actions. */
  .labelled { --action-share: 3fr; }
  .line .action svg { flex: none; color: var(--muted); }
  .line.tampered { background: var(--bad-bg); }
  .line .mark { flex: none; font-weight: 700; color: var(--muted); } .line .mark.verified { color: var(--good); }
  .line .mark.consistent { color: var(--accent); } .line .mark.failed { color: var(--bad); }
  .line .action span:not(.dot, .mark) { overflow: hidden; text-overflow: ellipsis; }
  .line time, .line .secondary { color: var(--muted); font-variant-numeric: tabular-nums; }
  .line .type { color: var(--muted); font-size: 0.9em; }
  @media (prefers-reduced-motion: no-preference) { .line.fresh { animation: arrive 2.4s ease-out; } }
  @keyframes arrive { from { background: var(--good-bg); } }
  .pending { background: linear-gradient(90deg, var(--surface) 30%, transparent); border-radius: 3px; height: 12px; }
  .end { padding: 10px 12px; color: var(--muted); text-align: center; }
  .state { display: flex; flex-direction: column; gap: 8px; align-items: center; justify-content: center; flex: 1; padding: 32px 16px; text-align: center; }
  .state { justify-content: safe center; overflow-y: auto; }
  .state h3 { margin: 0; font-size: 1.15em; } .state p { margin: 0; color: var(--muted); max-width: 46ch; }
  .arrived { position: absolute; inset-block-start: 38px; inset-inline: 0; display: flex; justify-content: center; z-index: 2; pointer-events: none; }
  .arrived button { pointer-events: auto; box-shadow: 0 2px 8px rgb(0 0 0 / 0.2); border-radius: 15px; }
  aside { flex: 0 0 236px; min-width: 0; overflow-y: auto; padding: 0 4px; border-inline-end: 1px solid var(--border); }
  dialog { flex: 0 0 min(46%, 560px); min-width: 0; position: static; width: auto; height: auto; max-width: none; max-height: none; margin: 0; padding: 0;
    border: 0; border-inline-start: 1px solid var(--border); background: var(--bg); color: inherit; }
  dialog[open] { display: flex; outline: none; }
  dialog.facets:modal { flex-direction: column; width: min(100%, 420px); }
  dialog.facets header { display: flex; align-items: center; justify-content: space-between; padding: 6px 12px; border-bottom: 1px solid var(--border); }
  dialog.facets h3 { margin: 0; font-size: 1.12em; }
  dialog.facets .body { flex: 1; min-height: 0; overflow-y: auto; padding: 0 8px; }
  dialog:modal { position: fixed; inset: 0 0 0 auto; width: min(100%, 700px); height: 100%; border: 0; overscroll-behavior: contain; }
  [dir="rtl"] dialog:modal { inset: 0 auto 0 0; }
  audit-log-event { flex: 1; }
  footer { display: flex; flex-wrap: wrap; gap: 4px 14px; align-items: center; padding: 5px 12px; border-top: 1px solid var(--border);
    background: var(--surface); color: var(--muted); font-size: 0.9em; min-height: 32px; }
  footer .tools button { min-height: 26px; padding: 1px 8px; }
  .live::before { content: ""; width: 8px; height: 8px; border-radius: 50%; background: var(--muted); }
  .live.on::before { background: var(--good); }
  .old { color: var(--warn); font-weight: 600; }
  @media not print { .on-paper { display: none; } }
  .toast { position: absolute; inset-block-end: 12px; inset-inline: 0; margin: auto; width: fit-content; z-index: 3; padding: 8px 16px;
    border-radius: var(--radius); border: 1px solid transparent; background: var(--text); color: var(--bg); box-shadow: 0 4px 14px rgb(0 0 0 / 0.3); }
  .messages input { flex: 1 1 200px; color: var(--text); }
  @media (prefers-reduced-motion: no-preference) { .grid[aria-busy="true"] { opacity: 0.6; transition: opacity 0.2s 0.3s; } }
  .menu { position: relative; }
  .menu > div { position: absolute; inset-block-start: 34px; inset-inline-end: 0; z-index: 3; display: flex; flex-direction: column; padding: 4px;
    background: var(--raised); border: 1px solid var(--border); border-radius: var(--radius); box-shadow: 0 6px 20px rgb(0 0 0 / 0.18); }
  .menu > div button { border: 0; justify-content: flex-start; }
  .narrow .head { display: none; }
  .narrow .line { grid-template: "action category when" 22px "who what what" 20px / minmax(0, 1fr) auto auto; gap: 0 10px; height: 56px; align-content: center; }
  .narrow .action { grid-area: action; } .narrow .when { grid-area: when; } .narrow .category { grid-area: category; font-size: 0.9em; }
  .narrow :is(.when, .category, .what) { text-align: end; }
  .narrow .who { grid-area: who; } .narrow .what { grid-area: what; max-width: 44cqi; justify-self: end; } .narrow .tenant { display: none; }
  .list { container-type: inline-size; }
  @container (min-width: 480px) {
    .tenants .narrow .line { grid-template-areas: "action category when" "who what tenant"; }
    .tenants .narrow .tenant { display: block; grid-area: tenant; max-width: 24cqi; text-align: end; }
    .tenants .narrow .what { max-width: 32cqi; }
  }
  .small .tools { margin-inline-start: 0; }
  .small .menu > div { inset-inline: 0 auto; }
  @media (max-height: 500px) { .top { padding-block: 6px; } .chart { padding-top: 4px; } footer { padding-block: 2px; } }
  @media (forced-colors: active) {
    .line.open { outline: 2px solid Highlight; outline-offset: -2px; }
    .line.active:not(.open) { outline: 1px dashed; outline-offset: -2px; }
    .live::before { border: 1px solid; forced-color-adjust: none; } .live.on::before { background: currentColor; }
  }
  @media print {
    :host { height: auto; min-height: 0; overflow: visible; }
    .main { display: block; contain: none; min-height: 0; }
    .grid { overflow: visible; }
    .before-rows, .after-rows, .end, .arrived, .top, aside, dialog.facets, .chart, footer .tools, .toast, .list:has(+ .details) { display: none !important; }
    .line { break-inside: avoid; } .line.active { box-shadow: none; }
    dialog { border: 0; }
    dialog:modal { position: static; width: auto; height: auto; }
  }
`;
