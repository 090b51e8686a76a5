/** The kinds of destinations, with the fields of their settings and credentials. The server checks the values. */
import { html, type TemplateResult } from "lit";
import { listOf } from "./form-fields.js";
import type { Json } from "./types.js";

export interface Field {
  name: string;
  label: string;
  /** `headers` and `pem` have several lines, `secret` is not shown. */
  type: "text" | "url" | "number" | "secret" | "headers" | "pem" | "check" | "choice";
  required?: boolean;
  placeholder?: string;
  /** The first is the default. */
  options?: string[];
}

export interface Kind {
  label: string;
  formats: string[];
  settings: Field[];
  credentials: Field[];
}

const HEADERS: Field = { name: "headers", label: "Headers, one “name: value” per line", type: "headers" };
const SECRET_HEADERS: Field = { name: "headers", label: "Secret headers, one “name: value” per line", type: "headers", placeholder: "authorization: Bearer …" };
const JSON_FORMATS = ["json", "ocsf"];

export const KINDS: Record<string, Kind> = {
  https: {
    label: "HTTPS", formats: JSON_FORMATS,
    settings: [
      { name: "url", label: "URL", type: "url", required: true, placeholder: "https://siem.example.com/ingest" },
      { name: "framing", label: "Body", type: "choice", options: ["array", "lines"] },
      HEADERS,
    ],
    credentials: [SECRET_HEADERS, { name: "signing_secret", label: "Signing secret; a new one if empty", type: "secret", placeholder: "whsec_…" }],
  },
  s3: {
    label: "S3-compatible bucket", formats: JSON_FORMATS,
    settings: [
      { name: "url", label: "URL of the bucket, with a prefix", type: "url", required: true, placeholder: "https://s3.eu-central-1.amazonaws.com/bucket/audit" },
      { name: "region", label: "Region", type: "text", required: true, placeholder: "eu-central-1" },
      { name: "compress", label: "Compress with gzip", type: "check" },
    ],
    credentials: [{ name: "access_key", label: "Access key", type: "text", required: true }, { name: "secret_key", label: "Secret key", type: "secret", required: true }],
  },
  splunk_hec: {
    label: "Splunk HTTP Event Collector", formats: JSON_FORMATS,
    settings: [
      { name: "url", label: "URL of the collector", type: "url", required: true, placeholder: "https://splunk.example.com:8088" },
      { name: "index", label: "Index", type: "text" }, { name: "source", label: "Source", type: "text" },
      { name: "sourcetype", label: "Source type", type: "text", placeholder: "audit-log" },
    ],
    credentials: [{ name: "token", label: "Token", type: "secret", required: true }],
  },
  datadog: {
    label: "Datadog", formats: JSON_FORMATS,
    settings: [
      { name: "site", label: "Site", type: "text", placeholder: "datadoghq.eu" }, { name: "url", label: "or URL of the intake", type: "url" },
      { name: "service", label: "Service", type: "text", placeholder: "audit-log" }, { name: "tags", label: "Tags", type: "text", placeholder: "env:prod,team:security" },
    ],
    credentials: [{ name: "api_key", label: "API key", type: "secret", required: true }],
  },
  otlp: {
    label: "OpenTelemetry", formats: JSON_FORMATS,
    settings: [{ name: "url", label: "URL of the receiver", type: "url", required: true, placeholder: "https://otel.example.com:4318" }, HEADERS],
    credentials: [SECRET_HEADERS],
  },
  syslog: {
    label: "Syslog over TLS", formats: [...JSON_FORMATS, "cef"],
    settings: [
      { name: "host", label: "Host", type: "text", required: true, placeholder: "syslog.example.com" }, { name: "port", label: "Port", type: "number", placeholder: "6514" },
      { name: "app_name", label: "Application name", type: "text", placeholder: "audit-log" }, { name: "facility", label: "Facility", type: "number", placeholder: "13" },
      { name: "ca", label: "Authorities of the receiver, PEM", type: "pem" },
    ],
    credentials: [{ name: "client_certificate", label: "Client certificate, PEM", type: "pem" }, { name: "client_key", label: "Client key, PEM", type: "pem" }],
  },
};

/** Headers of lines. A line without a colon is a name without a value, which the server refuses by name. */
function headersOf(text: string): Record<string, string> {
  const parts = listOf(text, /\n/).map((line) => /^([^:]*):?(.*)$/.exec(line) ?? ["", "", ""]);
  return Object.fromEntries(parts.map(([, name = "", value = ""]) => [name.trim(), value.trim()]));
}

/** The lines of stored headers. */
function linesOf(headers: unknown): string {
  return Object.entries((headers ?? {}) as Record<string, string>).map(([name, value]) => `${name}: ${value}`).join("\n");
}

/** The values that a form has for `fields`, by their names. The names of the form have `prefix` and a dot before them. */
export function valuesOf(prefix: string, fields: Field[], form: Record<string, string>): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const { name, type } of fields) {
    const text = form[`${prefix}.${name}`];
    if (type === "check") values[name] = text !== undefined;
    else if (text === undefined) continue;
    else if (type === "number") values[name] = Number(text);
    else if (type === "headers") values[name] = headersOf(text);
    else values[name] = text;
  }
  return values;
}

/** The input of a field, with the label of the page. */
export function inputOf(prefix: string, field: Field, value: Json | undefined, label = field.label): TemplateResult {
  const name = `${prefix}.${field.name}`;
  const { type, options = [], placeholder = "" } = field;
  const text = value === null || value === undefined ? "" : String(value);
  switch (type) {
    case "check":
      return html`<label class="check"><input type="checkbox" name=${name} .checked=${value !== false} />${label}</label>`;
    case "choice":
      return html`<label>${label}<select name=${name}>${options.map((option) => html`<option .selected=${option === text}>${option}</option>`)}</select></label>`;
    case "headers":
      return html`<label class="wide">${label}<textarea name=${name} rows="2" autocomplete="off" spellcheck="false" placeholder=${placeholder} .value=${linesOf(value)}></textarea></label>`;
    case "pem":
      return html`<label class="wide">${label}<textarea name=${name} rows="2" autocomplete="off" spellcheck="false" placeholder="-----BEGIN …" .value=${text}></textarea></label>`;
    default:
      return html`<label class=${type === "url" ? "wide" : ""}>${label}<input name=${name} type=${type === "secret" ? "password" : type} autocomplete="off"
        spellcheck="false" ?required=${field.required ?? false} placeholder=${placeholder} .value=${text} /></label>`;
  }
}
