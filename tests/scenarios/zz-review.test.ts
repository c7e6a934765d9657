import diagnostics from "node:diagnostics_channel";
import { test } from "node:test";
import { encode, frame } from "@tollgate/protocols/iso8583";
import { dialects } from "../../gateway/acquirers/iso8583-host/dialects/dialects.ts";
import { bookedFor, received } from "../support/expect.ts";
import { rebillFields } from "../support/merchant.ts";
import { registerOne } from "../support/register-one.ts";
import { runGw } from "../support/run-gw.ts";
import { startWorld } from "../support/world.ts";

const say = (...all: unknown[]) =>
  console.error(
    "##",
    ...all.map((a) =>
      typeof a === "string"
        ? a
        : JSON.stringify(a, (_, v) => (typeof v === "bigint" ? String(v) : v)),
    ),
  );
const told = (p: Promise<any>) =>
  p.then(
    (r) => r,
    (e) => ({ refused: String(e), code: e.code }),
  );

test("repeat and registration after removal", async (t) => {
  const world = await startWorld(t);
  const merchant = world.merchant();
  const first = await merchant.sale({ amount: "1.00" });
  await world.settle();
  const cardrefid = (await merchant.register(first))["card-ref-id"] ?? "";
  const fields = rebillFields({ cardrefid });
  const a = await merchant.endpoint("plain").makeRebill(fields as any);
  await world.settle();
  const b = await told(merchant.endpoint("plain").makeRebill(fields as any));
  say("repeat before removal", a["gw-order-id"], b["gw-order-id"]);
  await runGw(world, "card", "remove", world.set.login, cardrefid);
  say("repeat after removal", await told(merchant.endpoint("plain").makeRebill(fields as any)));
  const again = await told(merchant.register(first));
  say("register after removal", again, "same:", again["card-ref-id"] === cardrefid);
  say("pay with it", await told(merchant.rebill({ cardrefid: again["card-ref-id"] })));
});

test("trace numbers per attempt", async (t) => {
  const world = await startWorld(t);
  const merchant = world.merchant();
  const cardrefid = await registerOne(world, "4000004000000202");
  const p = await merchant.rebill({ cardrefid, amount: "30.51", enumerate_amounts: "20.61,10.00" });
  await world.settle();
  for (const m of world.bank.messages())
    if (m.direction === "received" && m.mti !== "0800")
      say(m.mti, m.fields[4], m.fields[7], m.fields[11], m.fields[12], m.fields[37], m.fields[90]);
  const st = await merchant.status(p);
  say(st.status, st["charged-amount"]);
});

test("late approval of an earlier attempt", async (t) => {
  const sockets: any[] = [];
  const onSocket = ({ socket }: any) => sockets.push(socket);
  diagnostics.subscribe("net.server.socket", onSocket as any);
  t.after(() => diagnostics.unsubscribe("net.server.socket", onSocket as any));
  const world = await startWorld(t);
  const merchant = world.merchant();
  const cardrefid = await registerOne(world, "4000004000000202");
  const payment = await merchant.rebill({ cardrefid, amount: "30.68", enumerate_amounts: "10.00" });
  while (received(world, "0200") < 2) await world.gateway.claimDue();
  await world.pass(30_000);
  const status = await merchant.status(payment);
  say("settled", status.status, status["charged-amount"], status["processor-rrn"]);
  const rrn1 = (status["processor-rrn"] ?? "").slice(0, 10) + "01";
  const req = world.bank.messages(rrn1).find((m) => m.mti === "0200");
  say("first", req?.fields);
  const line = sockets.find((s) => s.localPort === world.bank.hostPort && !s.destroyed);
  const { specification, framing } = dialects.sandbox;
  const { 2: _c, 14: _e, 22: _m, 48: _x, 90: _y, ...rest } = req!.fields as any;
  const seqBefore = received(world, "0420");
  const answer = {
    mti: "0210",
    fields: {
      3: rest[3],
      4: rest[4],
      7: rest[7],
      11: rest[11],
      37: rest[37],
      38: "ABC123",
      39: "00",
      41: rest[41],
      49: rest[49],
    },
  };
  line.write(frame(framing, encode(specification, answer as any)));
  await new Promise((r) => setTimeout(r, 500));
  await world.settle();
  say(
    "0420 before/after",
    seqBefore,
    received(world, "0420"),
    "ledger",
    world.bank.ledger().map((e) => `${e.reference} ${e.kind} ${e.amount}`),
  );
  const [row] = await world.house.database.query<any>(
    "select id, progress from orders where id = $1",
    [payment["gw-order-id"]],
  );
  say(world.logged.filter((l) => l.includes("late") || l.includes("look at it")));
});
