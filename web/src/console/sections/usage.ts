import { html, nothing, type TemplateResult } from "lit";
import type { Api } from "../../shared/api.js";
import { numbers, t } from "../languages/index.js";
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

/** The plan of the organization, and how much the project has of what is limited. */
export class UsageSection extends Section {
  static override properties = { usage: { state: true } };
  declare private usage: Usage | undefined;
  protected get heading(): string {
    return t.sections.usage;
  }
  protected get text(): string {
    return t.usage.text;
  }

  protected override async load(api: Api): Promise<void> {
    this.usage = (await api.get<{ usage: Usage }>("/usage")).usage;
  }

  private row(name: string, { count, max }: Quota, note: TemplateResult | typeof nothing = nothing): TemplateResult {
    const share = max === null ? "" : max === 0 ? t.usage.notInPlan : `${numbers.format(Math.round((100 * count) / max))} %`;
    return html`<tr>
      <th scope="row">${name} ${note}</th><td>${numbers.format(count)}</td><td>${max === null ? t.usage.noLimit : numbers.format(max)}</td>
      <td>${max ? html`<meter min="0" max=${max} high=${max * 0.9} value=${Math.min(count, max)} aria-label=${`${name}: ${share}`}></meter> ` : nothing}${share}</td>
    </tr>`;
  }

  protected override content(): TemplateResult {
    const { usage } = this;
    if (!usage) return html``;
    const rows = [
      this.row(t.usage.today, usage.events_today, html`<span class="muted">${t.usage.until(time(usage.day_ends_at))}</span>`),
      this.row(t.usage.keys, usage.keys),
      this.row(t.usage.redactionRules, usage.redaction_rules),
      this.row(t.usage.alertRules, usage.alert_rules),
      this.row(t.usage.webhooks, usage.webhooks),
      this.row(t.usage.viewerTiers, usage.viewer_tiers),
    ];
    return html`<div class="cards">
        <div class="card"><b>${t.usage.plans[usage.plan] ?? usage.plan}</b><span class="muted">${t.usage.plan}</span></div>
        <div class="card"><b>${numbers.format(usage.events.live)}</b><span class="muted">${t.usage.liveStored}</span></div>
        <div class="card"><b>${numbers.format(usage.events.test)}</b><span class="muted">${t.usage.testStored}</span></div>
      </div>
      ${this.table(["", t.usage.used, t.usage.limit, t.usage.share], rows, "")}`;
  }
}
