/** The settings of a gate about connections to the host: addresses, TLS and its files. */
import {
  type Address,
  addressesOf,
  certificateFilesOf,
  type GateSettings,
} from "../../acquirers/gates.ts";
import { readCertificateFiles } from "../../certificates/certificate-files.ts";
import { messageOf, Problem } from "../../values/problem.ts";
import { type Form, form, type GivenSettings } from "../settings.ts";

export type HostAddresses = Pick<GateSettings, "host" | "port" | "otherAddresses">;

export const hostForm: Form<HostAddresses> = form(
  "text",
  "address:port",
  readAddresses,
  printAddresses,
);

export const connectionsForm: Form<number> = form("whole", "n", readConnections);

/** More would be a mistake, and each is looked up. */
const addressesMax = 16;

/** One or more, by commas. */
function readAddresses(text: string, name: string): HostAddresses | Problem {
  const read: Address[] = [];
  const texts = text.split(",");
  if (texts.length > addressesMax) {
    return new Problem(`${name} has at most ${addressesMax} addresses.`);
  }
  for (const each of texts) {
    const address = readAddress(each.trim(), name);
    if (address instanceof Problem) return address;
    read.push(address);
  }
  const [first, ...otherAddresses] = read;
  if (first === undefined) return new Problem(`${name} is an address and a port.`);
  return otherAddresses.length === 0 ? first : { ...first, otherAddresses };
}

function readAddress(text: string, name: string): Address | Problem {
  const [, bracketed, plain, port = ""] = /^(?:\[(.+)\]|([^:\s]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(port) < 1 || Number(port) > 65_535) {
    return new Problem(`${name} is an address and a port, like bank.example:8583, not ${text}.`);
  }
  return { host, port: Number(port) };
}

export function printAddresses(settings: HostAddresses): string {
  const print = (host: string, port: number) =>
    host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
  return addressesOf(settings)
    .map(({ host, port }) => print(host, port))
    .join(",");
}

const connectionsMax = 32;

function readConnections(text: string, name: string): number | Problem {
  const count = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= connectionsMax) return count;
  return new Problem(`${name} is a number from 1 to ${connectionsMax}, not ${text}.`);
}

const tlsOptions = ["tlsRoots", "tlsName", "tlsCertificate", "tlsKey"];

/** Why the settings of TLS cannot be used, as far as the files on this machine tell. */
export async function findTlsFault(
  settings: GateSettings,
  given: GivenSettings,
): Promise<Problem | undefined> {
  const useless = tlsOptions.some((name) => given[name] !== undefined && given[name] !== "none");
  if (settings.tls !== true) {
    return useless ? new Problem("The settings of TLS are of no use unless tls is on.") : undefined;
  }
  if ((settings.tlsCertificateFile === undefined) !== (settings.tlsKeyFile === undefined)) {
    return new Problem("tls-certificate and tls-key belong together.");
  }
  const texts = await readCertificateFiles(certificateFilesOf(settings)).catch(messageOf);
  return typeof texts === "string" ? new Problem(`${texts}.`) : undefined;
}
