import { css } from "lit";

export const viewerStyles = css`
  :host {
    display: flex; flex-direction: column; height: var(--audit-height, 640px); min-height: 320px; background: var(--bg); overflow: hidden;
    container-type: inline-size;
  }
  .root { display: flex; flex-direction: column; flex: 1; min-height: 0; position: relative; }
  .top { padding: 10px 12px 8px; border-bottom: 1px solid var(--border); }
  .tools { display: flex; flex-wrap: wrap; gap: 6px; margin-inline-start: auto; }
  .chart { padding: 8px 12px 2px; border-bottom: 1px solid var(--border); }
  .messages > * { margin: 8px 12px 0; }
  .main { display: flex; flex: 1; min-height: 0; position: relative; }
  .list { display: flex; flex-direction: column; flex: 1; min-width: 0; min-height: 0; position: relative; }
  .grid { flex: 1; overflow-y: auto; overflow-x: hidden; overflow-anchor: none; min-height: 0; }
  .grid:focus-visible { outline: 2px solid var(--accent); outline-offset: -2px; }
  .head, .line { display: grid; grid-template-columns: 172px minmax(150px, 1.3fr) minmax(120px, 1fr) minmax(120px, 1fr); gap: 12px;
    align-items: center; padding: 0 12px; }
  .tenants :is(.head, .line) { grid-template-columns: 172px minmax(150px, 1.3fr) minmax(110px, 1fr) minmax(110px, 1fr) minmax(90px, 0.7fr); }
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
  .line.tampered { background: var(--bad-bg); }
  .line .mark { flex: none; font-weight: 700; color: var(--muted); } .line .mark.verified { color: var(--good); }
  .line .mark.consistent { color: var(--accent); } .line .mark.failed { color: var(--bad); }
  .line .action span:nth-child(2) { overflow: hidden; text-overflow: ellipsis; }
  .line time, .line .secondary { color: var(--muted); font-variant-numeric: tabular-nums; }
  .line .type { color: var(--muted); font-size: 0.9em; }
  @media (prefers-reduced-motion: no-preference) { .line.fresh { animation: arrive 2.4s ease-out; } }
  @keyframes arrive { from { background: var(--good-bg); } }
  .pending { background: linear-gradient(90deg, var(--surface) 30%, transparent); border-radius: 3px; height: 12px; }
  .end { padding: 10px 12px; color: var(--muted); text-align: center; }
  .state { display: flex; flex-direction: column; gap: 8px; align-items: center; justify-content: center; flex: 1; padding: 32px 16px; text-align: center; }
  .state h3 { margin: 0; font-size: 1.15em; } .state p { margin: 0; color: var(--muted); max-width: 46ch; }
  .arrived { position: absolute; inset-block-start: 38px; inset-inline: 0; display: flex; justify-content: center; z-index: 2; pointer-events: none; }
  .arrived button { pointer-events: auto; box-shadow: 0 2px 8px rgb(0 0 0 / 0.2); border-radius: 15px; }
  audit-log-event { flex: 0 0 min(46%, 560px); border-inline-start: 1px solid var(--border); }
  footer { display: flex; flex-wrap: wrap; gap: 4px 14px; align-items: center; padding: 5px 12px; border-top: 1px solid var(--border);
    background: var(--surface); color: var(--muted); font-size: 0.9em; min-height: 32px; }
  footer .tools button { min-height: 26px; padding: 1px 8px; }
  .live::before { content: ""; width: 8px; height: 8px; border-radius: 50%; background: var(--muted); }
  .live[aria-pressed="true"]::before { background: var(--good); }
  .menu { position: relative; }
  .menu > div { position: absolute; inset-block-start: 34px; inset-inline-end: 0; z-index: 3; display: flex; flex-direction: column; padding: 4px;
    background: var(--raised); border: 1px solid var(--border); border-radius: var(--radius); box-shadow: 0 6px 20px rgb(0 0 0 / 0.18); }
  .menu > div button { border: 0; justify-content: flex-start; }
  .narrow .head { display: none; }
  .narrow .line { grid-template-columns: 1fr auto; grid-template-rows: 22px 20px; gap: 0 10px; height: 56px; align-content: center; }
  .narrow .line .action { grid-area: 1 / 1; } .narrow .line .when { grid-area: 1 / 2; }
  .narrow .line .who { grid-area: 2 / 1; } .narrow .line .what { grid-area: 2 / 2; max-width: 44cqi; } .narrow .line .tenant { display: none; }
  .narrow audit-log-event { position: absolute; inset: 0; z-index: 4; border: 0; }
  .narrow .tools { margin-inline-start: 0; }
  .narrow .menu > div { inset-inline: 0 auto; }
`;
