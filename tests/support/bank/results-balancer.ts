/**
 * The load balancer that an operator puts in front of the nodes: the one address to which directory
 * servers post results. It connects to the nodes in turn, or to the one that a test chooses. A
 * connection that arrives while all nodes are down waits for the next node.
 */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { atEnd, type Test } from "../clean-up.ts";

export type ResultsBalancer = {
  readonly url: string;
  add(port: number): void;
  /** Connects only to this port from now on; without a port, to all nodes in turn. */
  leadTo(port?: number): void;
  /** Makes connections wait, because a node that is being killed may still accept one. */
  leadNowhere(): void;
};

const lookEveryMs = 20;

export async function startResultsBalancer(t: Test): Promise<ResultsBalancer> {
  const sockets = new Set<Socket>();
  let ports: readonly number[] = [];
  let only: readonly number[] | undefined;

  const server = createServer({ noDelay: true }, async (near) => {
    keep(near);
    const far = await reach(near);
    if (far === undefined) return;
    near.pipe(far).pipe(near);
    near.once("close", () => far.destroy());
    far.once("close", () => near.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  atEnd(t, async () => {
    server.close();
    for (const socket of sockets) socket.destroy();
    await once(server, "close");
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;

  return {
    url: `https://127.0.0.1:${port}`,
    add(next) {
      ports = [...ports, next];
    },
    leadTo(next) {
      only = next === undefined ? undefined : [next];
    },
    leadNowhere() {
      only = [];
    },
  };

  async function reach(near: Socket): Promise<Socket | undefined> {
    while (!near.destroyed) {
      ports = [...ports.slice(1), ...ports.slice(0, 1)];
      for (const each of only ?? ports) {
        const far = connect({ host: "127.0.0.1", port: each, noDelay: true });
        keep(far);
        if (await isOpen(far)) return far;
      }
      await pause(lookEveryMs);
    }
    return undefined;
  }

  function keep(socket: Socket): void {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.once("close", () => sockets.delete(socket));
  }
}

function isOpen(socket: Socket): Promise<boolean> {
  return new Promise((resolve) => {
    socket.once("connect", () => resolve(true));
    socket.once("close", () => resolve(false));
  });
}

/**
 * Finds a port below those that the system assigns, so that no other program gets it in the
 * meantime.
 */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    const probe = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      probe.once("error", () => resolve(false));
      probe.listen(port, "127.0.0.1", () => resolve(true));
    });
    if (!isFree) continue;
    probe.close();
    await once(probe, "close");
    return port;
  }
}
