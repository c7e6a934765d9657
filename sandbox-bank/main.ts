/**
 * The sandbox bank as a program. It prints one line of JSON when it is ready. With
 * GW_BANK_FOLLOW_STDIN=1 it ends when its standard input is closed, together with its parent.
 */
import { startBank } from "./bank.ts";

const { env } = process;

try {
  const bank = await startBank({
    httpPort: readPort("GW_BANK_PORT", 8090),
    hostPort: readPort("GW_BANK_HOST_PORT", 8583),
    binaryHostPort: readPort("GW_BANK_BINARY_HOST_PORT", 8584),
    iso93HostPort: readPort("GW_BANK_ISO93_HOST_PORT", 8585),
    directoryPort: readPort("GW_BANK_DIRECTORY_PORT", 8091),
    dataDir: env["GW_DATA_DIR"] ?? "./data",
    log: (line) => process.stderr.write(`${line}\n`),
  });
  const { url, hostAddress, binaryHostAddress, iso93HostAddress, directoryUrl } = bank;
  const hosts = { host: hostAddress, binaryHost: binaryHostAddress, iso93Host: iso93HostAddress };
  const ready = { bank: "ready", url, ...hosts, directory: directoryUrl };
  process.stdout.write(`${JSON.stringify(ready)}\n`);

  const end = async () => {
    await bank.stop();
    process.exit(0);
  };
  process.once("SIGTERM", end);
  process.once("SIGINT", end);
  if (env["GW_BANK_FOLLOW_STDIN"] === "1") process.stdin.once("close", end).resume();
} catch (error) {
  const { code, address, port } = Object(error);
  if (code !== "EADDRINUSE") throw error;
  refuse(`The sandbox bank cannot listen on ${address}:${port}: it is in use.`);
}

function readPort(name: string, defaultPort: number): number {
  const text = env[name];
  if (text === undefined || text === "") return defaultPort;
  if (/^\d{1,5}$/.test(text) && Number(text) < 65_536) return Number(text);
  return refuse(`${name} takes a port number from 0 to 65535.`);
}

function refuse(sentence: string): never {
  process.stderr.write(`${sentence}\n`);
  process.exit(2);
}
