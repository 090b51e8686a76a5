/** The kinds of destinations, with the fields of their settings and credentials. The server checks the values. */
import { html, type TemplateResult } from "lit";
import type { Labels } from "./destination-labels.js";
import { listOf } from "./form-fields.js";
import type { Json } from "./types.js";

export interface Field {
  name: string;
  label: keyof Labels;
  /** `headers` and `pem` have several lines, `secret` is not shown. */
  type: "text" | "url" | "number" | "secret" | "headers" | "pem" | "check" | "choice";
  required?: boolean;
  placeholder?: string;
  /** The first is the default. */
  options?: string[];
}

export interface Kind {
  label: keyof Labels;
  formats: string[];
  settings: Field[];
  credentials: Field[];
}

const HEADERS: Field = { name: "headers", label: "headers", type: "headers" };
const SECRET_HEADERS: Field = { name: "headers", label: "secretHeaders", type: "headers", placeholder: "authorization: Bearer …" };
const JSON_FORMATS = ["json", "ocsf"];

export const KINDS: Record<string, Kind> = {
  https: {
    label: "https", formats: JSON_FORMATS,
    settings: [
      { name: "url", label: "url", type: "url", required: true, placeholder: "https://siem.example.com/ingest" },
      { name: "framing", label: "body", type: "choice", options: ["array", "lines"] },
      HEADERS,
    ],
    credentials: [SECRET_HEADERS, { name: "signing_secret", label: "signingSecret", type: "secret", placeholder: "whsec_…" }],
  },
  s3: {
    label: "s3", formats: JSON_FORMATS,
    settings: [
      { name: "url", label: "bucketUrl", type: "url", required: true, placeholder: "https://s3.eu-central-1.amazonaws.com/bucket/audit" },
      { name: "region", label: "region", type: "text", required: true, placeholder: "eu-central-1" },
      { name: "compress", label: "compress", type: "check" },
    ],
    credentials: [{ name: "access_key", label: "accessKey", type: "text", required: true }, { name: "secret_key", label: "secretKey", type: "secret", required: true }],
  },
  splunk_hec: {
    label: "splunk_hec", formats: JSON_FORMATS,
    settings: [
      { name: "url", label: "collectorUrl", type: "url", required: true, placeholder: "https://splunk.example.com:8088" },
      { name: "index", label: "index", type: "text" }, { name: "source", label: "source", type: "text" },
      { name: "sourcetype", label: "sourceType", type: "text", placeholder: "audit-log" },
    ],
    credentials: [{ name: "token", label: "token", type: "secret", required: true }],
  },
  datadog: {
    label: "datadog", formats: JSON_FORMATS,
    settings: [
      { name: "site", label: "site", type: "text", placeholder: "datadoghq.eu" }, { name: "url", label: "intakeUrl", type: "url" },
      { name: "service", label: "service", type: "text", placeholder: "audit-log" }, { name: "tags", label: "tags", type: "text", placeholder: "env:prod,team:security" },
    ],
    credentials: [{ name: "api_key", label: "apiKey", type: "secret", required: true }],
  },
  otlp: {
    label: "otlp", formats: JSON_FORMATS,
    settings: [{ name: "url", label: "receiverUrl", type: "url", required: true, placeholder: "https://otel.example.com:4318" }, HEADERS],
    credentials: [SECRET_HEADERS],
  },
  syslog: {
    label: "syslog", formats: [...JSON_FORMATS, "cef"],
    settings: [
      { name: "host", label: "host", type: "text", required: true, placeholder: "syslog.example.com" }, { name: "port", label: "port", type: "number", placeholder: "6514" },
      { name: "app_name", label: "appName", type: "text", placeholder: "audit-log" }, { name: "facility", label: "facility", type: "number", placeholder: "13" },
      { name: "ca", label: "ca", type: "pem" },
    ],
    credentials: [{ name: "client_certificate", label: "clientCertificate", type: "pem" }, { name: "client_key", label: "clientKey", type: "pem" }],
  },
};

/** The label of a kind; the name of one that this page does not know. */
export function labelOf(name: string, labels: Labels): string {
  const kind = KINDS[name];
  return kind ? labels[kind.label] : name;
}

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

/** The input of a field, with its label. */
export function inputOf(prefix: string, field: Field, value: Json | undefined, labels: Labels): TemplateResult {
  const name = `${prefix}.${field.name}`;
  const { type, options = [], placeholder = "" } = field;
  const label = labels[field.label];
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
