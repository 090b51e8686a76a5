/** The viewer as a module: it defines `<audit-log-viewer>`. */
import { define } from "./elements.js";

export { languageNames, type Messages, registerLanguage } from "./languages/index.js";
export { AuditLogViewer, type RefreshToken } from "./viewer.js";

define();
