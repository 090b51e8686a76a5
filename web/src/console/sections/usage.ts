import { html, nothing, type TemplateResult } from "lit";
import type { Api } from "../../shared/api.js";
import { Section, time } from "../section.js";

interface Quota {
  count: number;
  max: number | null;
}

/** `GET /usage`. */
export interface Usage {
  plan: string;
  events_today: Quota;
  day_ends_at: string;
  events: { live: number; test: number };
  keys: Quota;
  redaction_rules: Quota;
  alert_rules: Quota;
  webhooks: Quota;
  viewer_tiers: Quota;
}

const NUMBERS = new Intl.NumberFormat();
const PLANS: Record<string, string> = { free: "Free", pro: "Pro", enterprise: "Enterprise" };

/** The plan of the organization, and how much the project has of what is limited. */
export class UsageSection extends Section {
  static override properties = { usage: { state: true } };
  declare private usage: Usage | undefined;
  protected readonly heading = "Usage and plan";
  protected readonly text = "The limits of the plan and of the service, and how far this project uses them. The operator changes the plan with audit-server org plan.";

  protected override async load(api: Api): Promise<void> {
    this.usage = (await api.get<{ usage: Usage }>("/usage")).usage;
  }

  private row(name: string, { count, max }: Quota, note: TemplateResult | typeof nothing = nothing): TemplateResult {
    const share = max === null ? "" : max === 0 ? "not in this plan" : `${Math.round((100 * count) / max)} %`;
    return html`<tr>
      <th scope="row">${name} ${note}</th><td>${NUMBERS.format(count)}</td><td>${max === null ? "no limit" : NUMBERS.format(max)}</td>
      <td>${max ? html`<meter min="0" max=${max} high=${max * 0.9} value=${Math.min(count, max)} aria-label=${`${name}: ${share}`}></meter> ` : nothing}${share}</td>
    </tr>`;
  }

  protected override content(): TemplateResult {
    const { usage } = this;
    if (!usage) return html``;
    const rows = [
      this.row("Live events today", usage.events_today, html`<span class="muted">until ${time(usage.day_ends_at)}</span>`),
      this.row("Keys of the project", usage.keys),
      this.row("Custom redaction rules", usage.redaction_rules),
      this.row("Custom alert rules", usage.alert_rules),
      this.row("Webhooks", usage.webhooks),
      this.row("Viewer tiers", usage.viewer_tiers),
    ];
    return html`<div class="cards">
        <div class="card"><b>${PLANS[usage.plan] ?? usage.plan}</b><span class="muted">plan</span></div>
        <div class="card"><b>${NUMBERS.format(usage.events.live)}</b><span class="muted">live events stored</span></div>
        <div class="card"><b>${NUMBERS.format(usage.events.test)}</b><span class="muted">test events stored</span></div>
      </div>
      ${this.table(["", "Used", "Limit", "Share"], rows, "")}`;
  }
}
