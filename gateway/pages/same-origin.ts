/**
 * Whether a form was sent from a page of ours. Browsers say so with Sec-Fetch-Site on secure
 * addresses and localhost, and with Origin everywhere.
 */
import type { IncomingHttpHeaders } from "node:http";

export function isFromOwnPage(headers: IncomingHttpHeaders): boolean {
  const site = headers["sec-fetch-site"];
  if (site !== undefined) return site === "same-origin";
  const { host, origin } = headers;
  return host !== undefined && origin !== undefined && URL.parse(origin)?.host === host;
}
