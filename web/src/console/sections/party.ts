import { css, html, nothing, type TemplateResult } from "lit";
import type { Api } from "../../shared/api.js";
import { type AuditEvent, CATEGORIES, type Counted, type EventPage, type Party, type Summary } from "../../shared/types.js";
import { visible } from "../../shared/visible.js";
import type { PageOf } from "../../viewer/event-details.js";
import { type Filter, toParameters } from "../../viewer/filter.js";
import { readSummary } from "../../viewer/summary.js";
import { language, numbers, t } from "../languages/index.js";
import { Section, time } from "../section.js";

const ALL = "all";
const PERIODS = ["7", "30", "90", ALL];
/** The period without a choice. */
const PERIOD = "30";
/** The newest events that names and addresses are taken from. */
const EVENTS_LOOKED_AT_MAX = 200;
/** Values of each list. */
const VALUES_MAX = 8;

type CountedField = keyof typeof t.party.counts;

/** What was read of an actor or a target. */
interface Shown {
  filter: Filter;
  summary: Summary;
  newest: AuditEvent[];
  first: AuditEvent | undefined;
}

/** How often each value is there, the most frequent one first. */
function counted(values: readonly (string | undefined)[]): Counted[] {
  const counts = new Map<string, number>();
  for (const value of values) if (value) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].map(([value, count]) => ({ value, count })).sort((one, other) => other.count - one.count).slice(0, VALUES_MAX);
}

/** The page of an actor or a target, which links in alerts and events lead to: who it is, what it did or what was done to it, and when. */
export class PartySection extends Section {
  static override properties = { kind: { attribute: false }, shown: { state: true } };
  static override styles = [Section.styles, css`audit-log-viewer { --audit-height: 520px; }`];
  declare kind: "actor" | "target";
  declare private shown: Shown | undefined;

  protected get heading(): string {
    return t.sections[this.kind];
  }
  protected get text(): string {
    return t.party.text;
  }

  private get field(): "actor_id" | "target_id" {
    return `${this.kind}_id`;
  }

  private get days(): string {
    const days = this.named("days");
    return PERIODS.includes(days) ? days : PERIOD;
  }

  private get filter(): Filter {
    const { days } = this;
    const start_date = days === ALL ? "" : new Date(Date.now() - Number(days) * 86_400_000).toISOString();
    return { [this.field]: this.named("id"), tenant_id: this.named("tenant_id"), start_date };
  }

  protected override async load(api: Api, signal: AbortSignal): Promise<void> {
    this.shown = undefined;
    if (!this.named("id")) return;
    const { filter } = this;
    const parameters = toParameters(filter);
    const [summary, newest, oldest] = await Promise.all([
      readSummary(api, parameters, Intl.DateTimeFormat().resolvedOptions().timeZone, signal),
      api.get<EventPage>("/events", { ...parameters, limit: EVENTS_LOOKED_AT_MAX }),
      api.get<EventPage>("/events", { ...parameters, order: "asc", limit: 1 }),
    ]);
    this.shown = { filter, summary, newest: newest.events, first: oldest.events[0] };
  }

  /** The actor or the target in each of the newest events. */
  private parties({ newest }: Shown): (Party & { email?: string })[] {
    const id = this.named("id");
    const found = newest.flatMap(({ actor, target, targets }) => (this.kind === "actor" ? [actor] : (targets ?? [target]).filter((one) => one?.id === id)));
    return found.filter((one) => one !== undefined && one !== null);
  }

  private readonly pageOf: PageOf = (kind, id, tenant_id) => this.linkTo(kind, { id, tenant_id });

  private link(changes: Filter = {}): string {
    const { start_date } = this.shown?.filter ?? {};
    const names = { [this.field]: this.named("id"), tenant_id: this.named("tenant_id"), start_date, ...changes };
    return this.linkTo("events", names as Record<string, string>);
  }

  protected override content(): TemplateResult {
    const { shown, days } = this;
    if (!this.named("id")) return html`<p class="notice">${t.party.none}</p>`;
    const onPeriod = (event: Event): void => this.go({ days: (event.target as HTMLSelectElement).value });
    return html`
      <div class="bar"><label>${t.party.period}<select @change=${onPeriod}>${PERIODS.map((value) => html`<option value=${value} .selected=${value === days}>${value === ALL ? t.party.allDays : t.party.days(value)}</option>`)}</select></label></div>
      ${shown ? this.page(shown) : this.failure ? nothing : this.waiting()}`;
  }

  private page(shown: Shown): TemplateResult {
    const { summary, newest, filter } = shown;
    const { credential, project, environment } = this.session;
    const categories = CATEGORIES.map((value) => ({ value, count: summary.buckets.reduce((sum, bucket) => sum + (bucket.categories?.[value] ?? 0), 0) }));
    return html`
      ${this.facts(shown)}
      <p><a href=${this.link()}>${t.party.open}</a>${this.session.isMaster ? this.operations() : nothing}</p>
      <div class="columns">
        ${this.counts("category", categories.filter(({ count }) => count > 0))}
        ${this.counts("action", (summary.top.action ?? []).slice(0, VALUES_MAX), summary.top.looked_at)}
        ${this.counts("ip_address", counted(newest.map(({ context }) => context?.ip_address)), newest.length)}
      </div>
      <h3>${t.party.recent}</h3>
      <audit-log-viewer lang=${language} .token=${credential} .projectId=${project?.id} .environment=${environment} .filter=${filter} .pageOf=${this.pageOf}></audit-log-viewer>`;
  }

  private facts(shown: Shown): TemplateResult {
    const parties = this.parties(shown);
    const seen = (values: (string | undefined)[]): string => visible(counted(values).map(({ value }) => value).join(", ") || "–");
    const { id, names, emails, types, tenant, total, first, last } = t.party.facts;
    const rows: [string, TemplateResult | string][] = [
      [id, html`<code>${visible(this.named("id"))}</code>`],
      [names, seen(parties.map(({ name }) => name))],
      ...(this.kind === "actor" ? [[emails, seen(parties.map(({ email }) => email))] as [string, string]] : []),
      [types, seen(parties.map(({ type }) => type))],
      [tenant, seen(shown.newest.map(({ tenant_id }) => tenant_id))],
      [total, numbers.format(shown.summary.total)],
      [first, time(shown.first?.occurred_at)],
      [last, time(shown.newest[0]?.occurred_at)],
    ];
    return html`<div class="scroll" tabindex="0" role="group" aria-label=${this.heading}><table class="facts"><tbody>${rows.map(([name, value]) => html`<tr><th scope="row">${name}</th><td>${value}</td></tr>`)}</tbody></table></div>`;
  }

  /** What an operator may do with the person. Both forms ask before anything happens. */
  private operations(): TemplateResult {
    const [id, tenant_id] = [this.named("id"), this.named("tenant_id")];
    return html` · <a href=${this.linkTo("erasures", { ids: id })}>${t.party.erase}</a> · <a href=${this.linkTo("retention", { [this.field]: id, tenant_id })}>${t.party.hold}</a>`;
  }

  private counts(field: CountedField, values: readonly Counted[], lookedAt?: number): TemplateResult {
    const rows = values.map(({ value, count }) => html`<tr><td><a href=${this.link({ [field]: value })}>${visible(value)}</a></td><td>${numbers.format(count)}</td></tr>`);
    return html`<div><h3>${t.party.counts[field]}</h3>${lookedAt === undefined ? nothing : html`<p class="muted">${t.party.among(numbers.format(lookedAt))}</p>`}${this.table([t.party.value, t.events], rows, "–")}</div>`;
  }
}
