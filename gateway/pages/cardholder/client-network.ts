/**
 * Who asks, as the proxy in front of the gateway tells it. The last entry of `X-Forwarded-For` is
 * the proxy's own; those before it are whatever the client has sent. Without one, everybody would
 * seem to be the proxy itself, so nobody is told apart.
 */
import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";

/** An address of IPv4, or the network of IPv6 that one household has all of. */
export function clientNetworkOf(headers: IncomingHttpHeaders): string | undefined {
  const given = [headers["x-forwarded-for"] ?? []].flat().join(",");
  const last = given.split(",").at(-1)?.trim() ?? "";
  const address = /^\[(.+)\](:\d+)?$|^(\d+(?:\.\d+){3}):\d+$/.exec(last);
  return networkOf(address?.[1] ?? address?.[3] ?? last);
}

function networkOf(address: string): string | undefined {
  const version4 = /^(?:::ffff:)?(\d+(?:\.\d+){3})$/i.exec(address)?.[1] ?? "";
  if (isIP(version4) === 4) return version4;
  if (isIP(address) !== 6) return undefined;
  const [head = [], tail = []] = address.split("::").map((half) => half.split(":").filter(Boolean));
  const zeros = address.includes("::") ? 8 - head.length - tail.length : 0;
  const groups = [...head, ...Array<string>(zeros).fill("0"), ...tail];
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":");
}
