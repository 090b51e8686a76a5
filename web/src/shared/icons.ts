/** The icons that the server accepts, as paths in a square of 16. */
export const ICONS: Record<string, string> = {
  add: "M8 3v10M3 8h10",
  alert: "M8 2 15 14H1zM8 6v4M8 12v.5",
  card: "M1.5 3.5h13v9h-13zM1.5 6.5h13",
  delete: "M2.5 4.5h11M6 4V2h4v2M4 4.5l.7 9.5h6.6l.7-9.5",
  download: "M8 2v8M4.5 6.5 8 10l3.5-3.5M2.5 13.5h11",
  edit: "M2.5 13.5l.7-3L10.5 3l2.5 2.5-7.5 7.3z",
  file: "M3.5 1.5h6l3 3v10h-9zM9.5 1.5v3h3",
  key: "M8.5 8a3.5 3.5 0 1 0-3.5 3.5A3.5 3.5 0 0 0 8.5 8h6v3M11.5 8v2",
  lock: "M3 7h10v7H3zM5 7V5a3 3 0 0 1 6 0v2",
  mail: "M1.5 3.5h13v9h-13zl6.5 5 6.5-5",
  settings: "M2 5h6M12 5h2M8 3v4h4V3zM2 11h2M8 11h6M4 9v4h4V9z",
  shield: "M8 1.5 13.5 3.5V8c0 3.5-2.5 5.5-5.5 6.5C5 13.5 2.5 11.5 2.5 8V3.5z",
  user: "M8 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM2 14.5c.5-3.5 3-4.5 6-4.5s5.5 1 6 4.5",
};
