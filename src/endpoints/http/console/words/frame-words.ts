/** Words of the frame around all pages, and of the list of keys. */
export const frameWords = {
  skip: "Skip to the content",
  pages: "Pages",
  names: {
    today: "Today",
    find: "Find",
    files: "Files",
    deliveries: "Deliveries",
    remotes: "Remotes and folders",
    health: "Health",
    users: "Users and companies",
    hosts: "For host developers",
    audit: "Audit",
  },
  find: "Find",
  findLabel: "File, stop, load, order, shipment, delivery, SHA-256, request or date",
  findHint: "File, stop, load, order … ( / )",
  companies: (count: number) => `${count} companies`,
  password: "Password",
  signOut: "Sign out",
  trail: "Where this page is",
  timesIn: "Times are in",
  utc: "UTC",
  theme: "Colours",
  themeSystem: "As the system",
  themeLight: "Light",
  themeDark: "Dark",
  keys: "Keys",
};

export const keyWords = {
  title: "Keys",
  find: "Find",
  today: "Today",
  files: "Files",
  deliveries: "Deliveries",
  remotes: "Remotes and folders",
  health: "Health",
  users: "Users and companies",
  hosts: "For host developers (programs)",
  audit: "Audit",
  nextRow: "Next row of the list",
  previousRow: "Previous row of the list",
  reload: "Load this page again",
  help: "This list",
  on: "Keys are switched on",
  close: "Close",
};

/** Of the page that shows the interface to programs. */
export const docsWords = {
  title: "Interface for programs",
  server: "Where requests go",
  body: "Body",
  choice: "Value",
};
