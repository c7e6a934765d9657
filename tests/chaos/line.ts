/**
 * A TCP line between two parts, which can be cut in the ways in which networks fail. A silent line
 * loses no byte: its data arrives late, as TCP repeats it, unless the connection is reset.
 */
import { once } from "node:events";
import { connect, createServer, type NetConnectOpts, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

export type Line = Awaited<ReturnType<typeof startLine>>;
type Direction = "there" | "back";

const slowMs = 300;
const silentIn: Readonly<Record<string, readonly Direction[]>> = {
  "silent, then late": ["there", "back"],
  "silent, then reset": ["there", "back"],
  // The line passes data in one direction only.
  deaf: ["back"],
  mute: ["there"],
};

export async function startLine(first: NetConnectOpts) {
  const pairs = new Set<readonly [near: Socket, far: Socket]>();
  let target = first;
  let way = "open";
  let change = Promise.withResolvers<void>();

  const server = createServer({ noDelay: true }, (near) => {
    if (way === "reset") return void near.resetAndDestroy();
    const pair = [near, connect({ noDelay: true, ...target })] as const;
    const drop = () => {
      pairs.delete(pair);
      for (const socket of pair) socket.destroy();
    };
    pairs.add(pair);
    for (const socket of pair) socket.on("error", drop).on("close", drop);
    void pump(near, pair[1], "there").catch(drop);
    void pump(pair[1], near, "back").catch(drop);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;

  return {
    port,
    /** Connects new connections to this target. */
    lead(next: NetConnectOpts): void {
      target = next;
    },
    cut(next: string): void {
      if (next === "reset") breakAll();
      turn(next);
    },
    restore(): void {
      if (way === "silent, then reset") breakAll();
      turn("open");
    },
    async close(): Promise<void> {
      breakAll();
      server.close();
      await once(server, "close");
    },
  };

  async function pump(from: Socket, to: Socket, direction: Direction): Promise<void> {
    for await (const piece of from) {
      if (way === "slow") await pause(slowMs);
      while (silentIn[way]?.includes(direction) === true) await change.promise;
      if (to.destroyed) return;
      if (!to.write(piece)) await once(to, "drain");
    }
    to.end();
  }

  function turn(next: string): void {
    way = next;
    change.resolve();
    change = Promise.withResolvers();
  }

  function breakAll(): void {
    for (const [near, far] of pairs) {
      near.resetAndDestroy();
      far.destroy();
    }
    pairs.clear();
  }
}
