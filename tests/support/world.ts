/**
 * A whole world for a test: a real database, the sandbox bank and the gateway, all over sockets,
 * with a clock that the test moves. Nothing in it waits for real time: `settle` does what is due.
 * When the world ends, the books of gateway and bank must agree.
 */
import assert from "node:assert/strict";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause, setImmediate } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { makeClient } from "@tollgate/client";
import { type Gateway, startGateway } from "@tollgate/gateway";
import { callbackFeedRoutes } from "@tollgate/gateway/callback-feed";
import { makeProgram } from "@tollgate/gateway/commands";
import { makeDesk } from "@tollgate/gateway/desk";
import { type Installation, openVault } from "@tollgate/gateway/installation";
import { makeLog } from "@tollgate/gateway/log";
import { createMerchantSet } from "@tollgate/gateway/merchant-set";
import { backToPortal, sandboxHandlers } from "@tollgate/gateway/sandbox-portal";
import { sandboxNetworks, sandboxRanges } from "@tollgate/gateway/sandbox-ranges";
import { makeWalletSheet } from "@tollgate/gateway/wallet-sheet";
import { startBank } from "@tollgate/sandbox-bank";
import { assertBalancesAgree, type StoredOrder, selectStoredOrders } from "./books.ts";
import { makeChanges } from "./changes.ts";
import { atEnd, type Test } from "./clean-up.ts";
import { makeLocks } from "./databases/locks.ts";
import { addressOf, copyInstallation, furnish, openFor } from "./installation.ts";
import { type Acknowledged, makeMerchant, plainCard } from "./merchant.ts";
import { TestClock } from "./test-clock.ts";

type Config = Installation["config"];
export type World = Awaited<ReturnType<typeof startWorld>>;

/**
 * Work is looked for only when the test says so, and an order waits for no link, because the clock
 * that would end the wait stands still. And no link is tested by an echo: one whose answer
 * is still on its way when the clock jumps would count as unanswered.
 */
export const quiet = {
  ...{ GW_CLAIM_EVERY_S: "86400", GW_ACQUIRER_ECHO_AFTER_S: "864000" },
  GW_PORTAL_INDEX_EVERY_S: "86400",
  ...{ GW_PORT: "0", GW_RESULTS_PORT: "0", GW_DRAIN_S: "0" },
  ...{ GW_LINK_WAIT_S: "0", GW_READY_TIMEOUT_S: "0.2", GW_NODE_NAME_WAIT_S: "0" },
};

/**
 * More than the answer of a charge and the one to the sign-off may take together, and no more: the
 * orders' own deadlines must not pass because a busy machine is slow to stop a gateway.
 */
const stopsWithinMs = 60_000;

export async function startWorld(
  t: Test,
  settings: Readonly<Record<string, string>> = {},
  /**
   * The bank goes by the world's clock: then both book a payment on the same day, at any hour. The
   * books are compared at the end, unless another installation has gone on with the bank.
   */
  { sharesClock = false, keepsBooks = true, behindMs = 0 } = {},
) {
  const cleanUp = (clean: () => Promise<unknown>) => atEnd(t, clean);
  const dataDir = await mkdtemp(join(tmpdir(), "tollgate-world-"));
  await chmod(dataDir, 0o711);
  // A program of the test may still write there.
  cleanUp(() => rm(dataDir, { recursive: true, force: true, maxRetries: 10 }));
  const clock = new TestClock(Date.now() - behindMs);
  const logged: string[] = [];
  const log = makeLog("debug", { write: (line) => void logged.push(line) });
  const GW_DATABASE_URL = await copyInstallation(dataDir);
  const bankClock = sharesClock ? { now: () => clock.now() } : {};
  const bank = await startBank({ httpPort: 0, hostPort: 0, dataDir, ...bankClock });
  cleanUp(() => bank.stop());
  const environment = { GW_DATA_DIR: dataDir, GW_DATABASE_URL, ...quiet, ...settings };
  const installation = await openFor(environment);
  cleanUp(() => installation.close());
  if (keepsBooks) cleanUp(readBooks);
  const { gates, set } = await furnish(installation, addressOf(bank));
  let gateway = await start();
  cleanUp(() => end(gateway));

  return {
    bank,
    clock,
    installation,
    set,
    dataDir,
    logged,
    get gateway() {
      return gateway;
    },
    merchant: (through = "plain") =>
      makeMerchant({ set, baseUrl: () => gateway.url, makeClient, through }),
    /** Another merchant with endpoints of its own. */
    async stranger(login = "stranger", cell = "main") {
      const made = { login, gates, cell };
      const other = await createMerchantSet(
        installation.audit,
        await openVault(installation),
        made,
      );
      await restart();
      return makeMerchant({ set: other, baseUrl: () => gateway.url, makeClient });
    },
    settle: () => gateway.settle(),
    /** Moves the clock and does what is due by then. */
    async pass(durationMs: number) {
      clock.advance(durationMs);
      await gateway.settle();
    },
    /** The bank is away: waits until the gateway has noticed. */
    linksDown: (...gone: readonly string[]) =>
      untilDown(gateway, gone.length === 0 ? sandboxGates : gone),
    /** It is back: the link's own clock decides when it tries again, so time has to move. */
    linksUp: () => untilDown(gateway, [], () => clock.advance(1_000)),
    restart: () => restart(),
    /** Whether nothing is left to do by the clock; the books agree. */
    isAtRest: async () => (await readBooks()).every(({ due }) => !due) && !(await owesCallbacks()),
    /** The bank's host is away until `startHost`. */
    async stopHost() {
      await bank.setSwitches({ hostDown: true });
      await untilDown(gateway, sandboxGates);
    },
    async startHost() {
      await bank.setSwitches({ hostDown: false });
      await untilDown(gateway, [], () => clock.advance(1_000));
    },
    /** A card that was paid with once, for recurrent payments; answers its reference. */
    async registerCard(card = plainCard) {
      const merchant = makeMerchant({ set, baseUrl: () => gateway.url, makeClient });
      const first = await merchant.sale({ credit_card_number: card, amount: "1.00" });
      await gateway.settle();
      return (await merchant.register(first))["card-ref-id"] ?? "";
    },
    /** As a merchant makes it of the status. */
    async receiptLink(order: Acknowledged, through = "plain") {
      const merchant = makeMerchant({ set, baseUrl: () => gateway.url, makeClient, through });
      const { "receipt-id": receiptId } = await merchant.status(order);
      assert.ok(receiptId !== undefined, "there is no receipt");
      return `${gateway.url}/gw/view-receipt/${set.endpoints[through]}/${receiptId}/`;
    },
    ...makeChanges({ installation, set, restart }),
    ...makeLocks(installation),
    /** The same merchant, who sends to another node. */
    merchantAt: (node: Gateway) => makeMerchant({ set, baseUrl: () => node.url, makeClient }),
    /** Another node on the same database, whose machine's clock may be ahead of it. */
    async otherNode(nodeName: string, changes: Partial<Config> = {}, aheadMs = 0) {
      const other = await start({ ...installation.config, nodeName, ...changes }, [], aheadMs);
      cleanUp(() => end(other));
      return other;
    },
  };

  async function readBooks(): Promise<readonly StoredOrder[]> {
    const orders = await installation.database.query<StoredOrder>(selectStoredOrders);
    assertBalancesAgree(orders, bank.ledger());
    return orders;
  }

  async function owesCallbacks(): Promise<boolean> {
    const owed = "select from callbacks where due_at is not null limit 1";
    return (await installation.database.query(owed)).length > 0;
  }

  /** The gateway ends with orders in flight, and another one starts on the same database. */
  async function restart(down: readonly string[] = []): Promise<void> {
    await end(gateway);
    gateway = await start(installation.config, down);
  }

  /** The clock goes on while a gateway stops, because it waits for the bank's answers by it. */
  async function end(ending: Gateway): Promise<void> {
    let ended = false;
    const stopping = ending.stop().finally(() => {
      ended = true;
    });
    for (let leftMs = stopsWithinMs; !ended; leftMs -= 100) {
      clock.advance(100);
      // What still waits by the clock ends too, but no longer at once.
      await (leftMs > 0 ? setImmediate() : pause(20));
    }
    await stopping;
  }

  /** As `demo.json` would name it. */
  async function findSandbox() {
    const { endpoints, controlKey, login } = set;
    const own = { baseUrl: gateway.url, pathWord: "gw", merchant: { login, controlKey } };
    return { ...own, endpoints, bankUrl: bank.url };
  }

  async function start(config = installation.config, down: readonly string[] = [], aheadMs = 0) {
    const { walletSheet, routes } = makeWalletSheet(async () => bank.url);
    const staging = {
      ...{ ranges: sandboxRanges, networks: sandboxNetworks, walletSheet },
      portal: (reads: Parameters<typeof sandboxHandlers>[0]["reads"]) =>
        sandboxHandlers({ reads, findSandbox }),
      routes: (node: Parameters<typeof callbackFeedRoutes>[0]) => [
        ...[...routes, backToPortal, ...callbackFeedRoutes(node)],
      ],
      documentValues: async () => ({
        ...{ LOGIN: set.login, CONTROL_KEY: set.controlKey, BANK: bank.url },
        ...{
          ENDPOINT: set.endpoints["plain"] ?? "",
          SECURE_ENDPOINT: set.endpoints["secure"] ?? "",
        },
      }),
    };
    const time = { clock: clock.ahead(aheadMs), readTime: async () => clock.now() };
    const openDesk = async () => makeDesk({ ...installation, config }, makeProgram);
    const own = { ...installation, config, log, ...time, staging, openDesk };
    const started = await startGateway(own);
    const { hostDown, refuseSignOn } = bank.switches();
    if (!hostDown && !refuseSignOn) await untilDown(started, down);
    return started;
  }
}

const sandboxGates = ["sandbox", "sandbox-binary", "sandbox-iso93"];

/** Links sign on by themselves; a world begins when all have but those that cannot. */
async function untilDown(
  gateway: Gateway,
  down: readonly string[],
  meanwhile: () => void = () => undefined,
): Promise<void> {
  const wanted = down.map((name) => `gate ${name}`).sort();
  while (!isDeepStrictEqual((await missingIn(gateway)).sort(), wanted)) meanwhile();
}

async function missingIn({ port }: Gateway): Promise<string[]> {
  const answer = await fetch(`http://127.0.0.1:${port}/health/ready`);
  const { missing } = (await answer.json()) as { missing: object };
  // A test may hold the tables of orders locked, and wait for a link meanwhile.
  return Object.keys(missing).filter((name) => name !== "database" && !name.startsWith("cell "));
}
