/**
 * A whole world for a test: a real database, the sandbox bank and the gateway, all over sockets,
 * with a clock that the test moves. Nothing in it waits for real time: `settle` performs what is
 * due. When the world ends, the books of gateway and bank must agree.
 */
import assert from "node:assert/strict";
import { makeClient } from "@tollgate/client";
import type { Gateway } from "@tollgate/gateway";
import { openVault } from "@tollgate/gateway/administration";
import { callbackFeedRoutes } from "@tollgate/gateway/callback-feed";
import type { Installation } from "@tollgate/gateway/installation";
import { createMerchantSet, type MerchantSet } from "@tollgate/gateway/merchant-set";
import { backToPortal, sandboxHandlers } from "@tollgate/gateway/sandbox-portal";
import { sandboxNetworks, sandboxRanges } from "@tollgate/gateway/sandbox-ranges";
import { makeWalletSheet } from "@tollgate/gateway/wallet-sheet";
import type { Bank } from "@tollgate/sandbox-bank";
import { assertBalancesAgree, type StoredOrder, selectStoredOrders } from "./books.ts";
import { makeChanges } from "./changes.ts";
import { atEnd, type Test } from "./clean-up.ts";
import { makeLocks } from "./databases/locks.ts";
import { quiet, recordLog, startByClock, stopByClock, untilDown } from "./gateway-by-clock.ts";
import { type Acknowledged, makeMerchant, plainCard } from "./merchant.ts";
import { bankInProcess, furnishPlace, makePlace } from "./place.ts";
import { TestClock } from "./test-clock.ts";

type Config = Installation["config"];
export type World = Awaited<ReturnType<typeof startWorld>>;

export async function startWorld(
  t: Test,
  settings: Readonly<Record<string, string>> = {},
  /**
   * With `sharesClock` the bank uses the world's clock, so that both book a payment on the same day
   * at any hour. The books are compared at the end, unless another installation has continued with
   * the bank. What `prepare` changes before the gateway starts needs no restart.
   */
  { sharesClock = false, keepsBooks = true, behindMs = 0, prepare = leaveAsItIs } = {},
) {
  const clock = new TestClock(Date.now() - behindMs);
  const { log, logged } = recordLog();
  const bankClock = sharesClock ? { now: () => clock.now() } : {};
  const place = await makePlace(t, { startBank: bankInProcess(t, bankClock) });
  const { bank, dataDir } = place;
  const own = { settings: { ...quiet, ...settings } };
  const { installation, gates, set } = await furnishPlace(t, place, own);
  if (keepsBooks) atEnd(t, readBooks);
  await prepare({ installation, set, bank });
  let gateway = await start();
  atEnd(t, () => stopByClock(clock, gateway));

  return {
    bank,
    clock,
    installation,
    set,
    dataDir,
    logged,
    /** Reads stored rows, including those of earlier tests of a shared world. */
    readRows: <Row extends object>(text: string, values: readonly unknown[] = []) =>
      installation.database.query<Row>(text, [...values]),
    /**
     * The world as commands of `gw` need it, for commands that change nothing for tests that share
     * the world.
     */
    place: { installation: { databaseUrl: installation.databaseUrl }, dataDir },
    get gateway() {
      return gateway;
    },
    merchant: (through = "plain") =>
      makeMerchant({ set, baseUrl: () => gateway.url, makeClient, through }),
    /** Adds another merchant with endpoints of its own. */
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
    /** Moves the clock, and performs what is due by then. */
    async pass(durationMs: number) {
      clock.advance(durationMs);
      await gateway.settle();
    },
    /** Waits until the gateway has noticed that the bank is unreachable. */
    linksDown: (...gone: readonly string[]) =>
      untilDown(gateway, gone.length === 0 ? sandboxGates : gone),
    /**
     * Waits until the links are up again. The clock moves, because it decides when a link tries
     * again.
     */
    linksUp: () => untilDown(gateway, [], () => clock.advance(1_000)),
    restart: () => restart(),
    /** Whether nothing is left to do by the clock, and the books agree. */
    isAtRest: async () => (await readBooks()).every(({ due }) => !due) && !(await owesCallbacks()),
    /** Makes the bank's host unreachable until `startHost`. */
    async stopHost() {
      await bank.setSwitches({ hostDown: true });
      await untilDown(gateway, sandboxGates);
    },
    async startHost() {
      await bank.setSwitches({ hostDown: false });
      await untilDown(gateway, [], () => clock.advance(1_000));
    },
    /** Pays with a card, registers it for recurrent payments, and returns its reference. */
    async registerCard(card = plainCard) {
      const merchant = makeMerchant({ set, baseUrl: () => gateway.url, makeClient });
      const first = await merchant.sale({ credit_card_number: card, amount: "1.00" });
      await gateway.settle();
      return (await merchant.register(first))["card-ref-id"] ?? "";
    },
    /** Returns the address of the receipt, as a merchant makes it from the status. */
    async receiptLink(order: Acknowledged, through = "plain") {
      const merchant = makeMerchant({ set, baseUrl: () => gateway.url, makeClient, through });
      const { "receipt-id": receiptId } = await merchant.status(order);
      assert.ok(receiptId !== undefined, "there is no receipt");
      return `${gateway.url}/gw/view-receipt/${set.endpoints[through]}/${receiptId}/`;
    },
    ...makeChanges({ installation, set, restart }),
    ...makeLocks(installation),
    /** Returns the same merchant, which sends to another node. */
    merchantAt: (node: Gateway) => makeMerchant({ set, baseUrl: () => node.url, makeClient }),
    /**
     * Starts another node on the same database. The clock of its machine may be ahead of the
     * database's.
     */
    async otherNode(nodeName: string, changes: Partial<Config> = {}, aheadMs = 0) {
      const other = await start({ ...installation.config, nodeName, ...changes }, [], aheadMs);
      atEnd(t, () => stopByClock(clock, other));
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

  /** Stops the gateway with orders in flight, and starts another one on the same database. */
  async function restart(down: readonly string[] = []): Promise<void> {
    await stopByClock(clock, gateway);
    gateway = await start(installation.config, down);
  }

  /** Returns the sandbox as `demo.json` would describe it. */
  async function findSandbox() {
    const { endpoints, controlKey, login } = set;
    const own = { baseUrl: gateway.url, pathWord: "gw", merchant: { login, controlKey } };
    return { ...own, endpoints, sandboxUrl: bank.url };
  }

  async function start(config = installation.config, down: readonly string[] = [], aheadMs = 0) {
    const { walletSheet, routes } = makeWalletSheet(async () => bank.url);
    const staging = {
      ranges: sandboxRanges,
      networks: sandboxNetworks,
      walletSheet,
      portal: (reads: Parameters<typeof sandboxHandlers>[0]["reads"]) =>
        sandboxHandlers({ reads, findSandbox }),
      routes: (node: Parameters<typeof callbackFeedRoutes>[0]) => [
        ...[...routes, backToPortal, ...callbackFeedRoutes(node)],
      ],
      documentValues: async () => ({
        LOGIN: set.login,
        CONTROL_KEY: set.controlKey,
        BANK: bank.url,
        ENDPOINT: set.endpoints["plain"] ?? "",
        SECURE_ENDPOINT: set.endpoints["secure"] ?? "",
      }),
    };
    const opened = { ...installation, config };
    const parts = { ...opened, opened, log, staging };
    const started = await startByClock(clock, parts, aheadMs);
    const { hostDown, refuseSignOn } = bank.switches();
    if (!hostDown && !refuseSignOn) await untilDown(started, down);
    return started;
  }
}

type Prepared = {
  readonly installation: Installation;
  readonly set: MerchantSet;
  readonly bank: Bank;
};

async function leaveAsItIs(_: Prepared): Promise<unknown> {
  return undefined;
}

const sandboxGates = ["sandbox", "sandbox-binary", "sandbox-iso93"];
