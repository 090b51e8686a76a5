// React 17 and later. Properties are set on the element, because React before 19 sets attributes only.
import { createElement, useEffect, useLayoutEffect, useRef } from "react";
import "./viewer.js";

const PROPERTIES = ["baseUrl", "token", "pinnedKey", "theme", "fragment", "paused", "filter", "refreshToken"];
const EVENTS = {
  onTokenExpired: "audit-token-expired",
  onViewChanged: "audit-view-changed",
  onEventOpened: "audit-event-opened",
  onProofChecked: "audit-proof-checked",
};

export function AuditLogViewer({ language, className, style, id, ...rest }) {
  const element = useRef(null);
  const listeners = useRef(rest);
  listeners.current = rest;
  useLayoutEffect(() => {
    for (const name of PROPERTIES) {
      if (rest[name] !== undefined && element.current[name] !== rest[name]) element.current[name] = rest[name];
    }
  });
  useEffect(() => {
    const { current } = element;
    const added = Object.entries(EVENTS).map(([name, event]) => {
      const listener = (dispatched) => listeners.current[name]?.(dispatched);
      current.addEventListener(event, listener);
      return () => current.removeEventListener(event, listener);
    });
    return () => added.forEach((remove) => remove());
  }, []);
  // React before 19 has no className for custom elements.
  return createElement("audit-log-viewer", { ref: element, lang: language, class: className, style, id });
}
