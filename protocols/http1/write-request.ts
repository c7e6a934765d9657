/** A request as it goes over the wire (RFC 9112, section 3). */
export type Request = {
  readonly method: string;
  /** A path with its query; a whole address for a proxy; host and port for a tunnel. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
};

/** Throws on what would end its line early: nobody may smuggle a header or a second request. */
export function writeRequest({ method, target, headers, body = "" }: Request): string {
  if (!/^[A-Z]+$/.test(method)) throw new TypeError("no method of HTTP");
  if (!/^[\x21-\x7e]+$/.test(target)) throw new TypeError("the target holds what no address may");
  let head = `${method} ${target} HTTP/1.1\r\n`;
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[\w-]+$/.test(name) || /[^\t\x20-\x7e]/.test(value)) {
      throw new TypeError(`the header ${name} holds what no header may`);
    }
    head += `${name}: ${value}\r\n`;
  }
  if (body !== "") head += `content-length: ${Buffer.byteLength(body)}\r\n`;
  else if (method === "POST") head += "content-length: 0\r\n";
  return `${head}\r\n${body}`;
}
