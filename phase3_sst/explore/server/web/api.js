// Requests to this page's server, and its events. A refusal carries the server's words.

export class Refused extends Error {
  constructor(error, status) {
    super(error.what);
    this.error = error;
    this.status = status;
  }
}

async function read(response) {
  const type = response.headers.get("content-type") ?? "";
  const content = type.startsWith("application/json") ? await response.json() : { error: { what: await response.text() } };
  if (!response.ok) throw new Refused(content.error ?? { what: response.statusText }, response.status);
  return content;
}

export const get = async (path) => read(await fetch(path, { credentials: "same-origin" }));

export const post = async (path, body) =>
  read(
    await fetch(path, {
      method: "POST",
      credentials: "same-origin",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    }),
  );

// The facts of any error that a request ended with.
export const facts = (error) =>
  error instanceof Refused
    ? error.error
    : { what: "the server does not answer", remedy: "start manynode explore again and open its link; this link's state stays" };

// Calls handlers by the kind of event; `lost` and `back` when the connection goes and comes. A page that nobody sees does
// not listen: browsers allow few connections to one server. When it is seen again, `running` says where things are.
export function listen(handlers) {
  let source = null;
  const open = () => {
    source = new EventSource("/api/events");
    for (const kind of ["running", "progress", "finished", "failed", "cancelled", "search", "questions"])
      source.addEventListener(kind, (event) => handlers[kind]?.(JSON.parse(event.data)));
    source.addEventListener("open", () => handlers.back?.());
    source.addEventListener("error", () => handlers.lost?.());
  };
  document.addEventListener("visibilitychange", () => {
    source.close();
    if (document.visibilityState === "visible") open();
  });
  open();
}

// A file that the server makes, saved by the browser.
export async function save(path, name, body) {
  const request = body
    ? { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }
    : {};
  const response = await fetch(path, { credentials: "same-origin", ...request });
  if (!response.ok || response.headers.get("content-type")?.startsWith("application/json")) await read(response);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob());
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
