/** Labels of the kinds of destinations, and of their settings and credentials. */

const en = {
  https: "HTTPS", s3: "S3-compatible bucket", splunk_hec: "Splunk HTTP Event Collector", datadog: "Datadog", otlp: "OpenTelemetry", syslog: "Syslog over TLS",
  url: "URL", body: "Body", headers: "Headers, one “name: value” per line", secretHeaders: "Secret headers, one “name: value” per line",
  signingSecret: "Signing secret; a new one if empty", bucketUrl: "URL of the bucket, with a prefix", region: "Region", compress: "Compress with gzip",
  accessKey: "Access key", secretKey: "Secret key", collectorUrl: "URL of the collector", index: "Index", source: "Source", sourceType: "Source type", token: "Token",
  site: "Site", intakeUrl: "or URL of the intake", service: "Service", tags: "Tags", apiKey: "API key", receiverUrl: "URL of the receiver", host: "Host", port: "Port",
  appName: "Application name", facility: "Facility", ca: "Authorities of the receiver, PEM", clientCertificate: "Client certificate, PEM", clientKey: "Client key, PEM",
};

export type Labels = typeof en;

const de: Labels = {
  https: "HTTPS", s3: "S3-kompatibler Bucket", splunk_hec: "Splunk HTTP Event Collector", datadog: "Datadog", otlp: "OpenTelemetry", syslog: "Syslog über TLS",
  url: "URL", body: "Inhalt", headers: "Kopfzeilen, je Zeile „Name: Wert“", secretHeaders: "Geheime Kopfzeilen, je Zeile „Name: Wert“",
  signingSecret: "Signaturgeheimnis; ein neues, wenn leer", bucketUrl: "URL des Buckets, mit einem Präfix", region: "Region", compress: "Mit gzip komprimieren",
  accessKey: "Zugriffsschlüssel", secretKey: "Geheimer Schlüssel", collectorUrl: "URL des Collectors", index: "Index", source: "Quelle", sourceType: "Source type", token: "Token",
  site: "Site", intakeUrl: "oder URL der Annahmestelle", service: "Dienst", tags: "Tags", apiKey: "API-Schlüssel", receiverUrl: "URL des Empfängers", host: "Host", port: "Port",
  appName: "Name der Anwendung", facility: "Facility", ca: "Zertifizierungsstellen des Empfängers, PEM", clientCertificate: "Client-Zertifikat, PEM", clientKey: "Client-Schlüssel, PEM",
};

const LANGUAGES: Record<string, Labels> = { en, de };

export const labelsOf = (language: string): Labels => LANGUAGES[language] ?? en;
