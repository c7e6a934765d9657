/** An operator who settles an order in doubt by what the host's books have. */
import type { OperatorEvent } from "../../gateway/orders/events.ts";
import type { Order } from "../../gateway/orders/order.ts";
import { makeCells } from "../../gateway/storage/cells.ts";
import { asReceiptId } from "../../gateway/values/ids.ts";
import { decideDoubt, makeReport } from "../../gateway/wiring/operator-events.ts";
import { readSettings } from "./configuration.ts";
import type { OrderRecord } from "./database-model.ts";
import type { DatabaseServer } from "./database-server.ts";
import type { Host } from "./host.ts";
import { orderOf } from "./laws.ts";
import type { Random } from "./random.ts";
import type { Story } from "./story.ts";
import type { VirtualTime } from "./virtual-time.ts";

type World = {
  readonly time: VirtualTime;
  readonly server: DatabaseServer;
  readonly story: Story;
  readonly host: Host;
  readonly random: Random;
};

const config = readSettings();
const stages = new Set(["reversing", "repeating", "inquiring"]);
const isDoubtful = ({ stage, owes }: OrderRecord) => stages.has(stage) || owes === "reverse";

export function makeOperator({ time, server, story, host, random }: World) {
  const database = server.connect();
  const databases = { node: database, vault: database };
  const cells = makeCells({
    ...{ main: databases, open: () => databases, waitMs: config.acceptRetryMs },
    onFailed: () => undefined,
  });
  const report = makeReport({ config, cells, database });

  return { work };

  function work(forMs: number): void {
    if (forMs <= 0) return;
    void decide();
    const pauseMs = random.between(1_000, 20_000);
    time.after(pauseMs, time.world, () => work(forMs - pauseMs));
  }

  /** About a random order in doubt; one that a node asks the host about is left alone. */
  async function decide(): Promise<void> {
    const doubtful = server.tables.orders.values().filter(isDoubtful);
    if (doubtful.length === 0) return;
    const order = orderOf(random.pick(doubtful));
    const event = random.chance(0.4) ? askAgain : verdictOn(order);
    const decided = await decideDoubt(report, order, event).catch(() => undefined);
    const isTaken = decided !== undefined && "id" in decided;
    story.tell(`the operator decides ${event.kind}${isTaken ? "" : ", in vain"}`, order.id);
  }

  /** The operator settles only what the books say clearly. */
  function verdictOn({ transaction }: Order): OperatorEvent {
    const { kind, amount, identifiers } = transaction;
    const { reference = "", traceNumber = "" } = identifiers ?? {};
    const done = host.amountDone(reference, traceNumber, kind);
    if (done === 0) return { kind: "settled_as_not_done", ...signed };
    const receiptId = asReceiptId("1");
    return BigInt(done) === amount.minor
      ? { kind: "settled_as_done", ...signed, receiptId }
      : askAgain;
  }
}

const signed = { by: "jo", why: "as the host's books have it" };
const askAgain: OperatorEvent = { kind: "asked_again", ...signed };
