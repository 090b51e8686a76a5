// Uses of the declared types. Compiled by web/check, not run.
import { AuditLogViewer as Component, type AuditLogViewerProperties } from "../src/react.js";
import { type AuditLogViewer, languageNames, registerLanguage } from "../src/viewer.js";

const viewer: AuditLogViewer = document.createElement("audit-log-viewer");
viewer.baseUrl = "https://audit.example.com";
viewer.token = "vt_x";
viewer.filter = { category: "auth", start_date: "2026-01-01T00:00:00Z" };
viewer.refreshToken = async () => "vt_y";
viewer.addEventListener("audit-proof-checked", (event) => event.detail.outcome satisfies string);
registerLanguage("fr", { search: "Rechercher" });
languageNames() satisfies string[];

const properties: AuditLogViewerProperties = { token: "vt_x", onTokenExpired: (event) => void event.detail.code };
void Component(properties);
