/** Endpoints and their gates in a real database: created, changed and loaded again. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { GateSettings } from "../../acquirers/gates.ts";
import { asEndpointId, asGateId } from "../../values/ids.ts";
import { Secret } from "../../values/secret.ts";
import { mainCell } from "../cells/cells.ts";
import { makeAudit } from "../people/audit.ts";
import { migrate } from "../schema/migrate.ts";
import { type Database, openDatabase } from "../server/database.ts";
import { startEmpty } from "../testing/database-for-tests.ts";
import { makeAdministration } from "./administration.ts";
import { configurationChannel, loadConfiguration } from "./configuration.ts";

const settings: GateSettings = {
  host: "127.0.0.1",
  port: 8583,
  terminalId: "10000018",
  merchantCode: "TG1",
  nameAndPlace: "Shop",
  categoryCode: "5732",
  countryCode: "840",
  acquirerId: "400001",
  descriptor: "GATE",
  worksWithoutCvv: false,
  partialReversal: true,
  partialCapture: true,
};

let database: Database;
const audit = () => makeAudit(database, { actor: { who: "a test", from: "here" } });
let clean = async (): Promise<void> => undefined;

before(async () => {
  const server = await startEmpty();
  const options = { poolSize: 2, connectTimeoutMs: 5_000, onLost: () => undefined };
  database = openDatabase(server.url, options);
  clean = async () => {
    await database.close();
    await server.stop();
  };
  await migrate(database, () => undefined);
  await insertEndpoint();
});
after(() => clean());

test("an endpoint is read with its gate", async () => {
  const { endpoints } = await load();

  const gates = endpoints.get(asEndpointId("1"))?.gates;

  assert.deepEqual(gates, [
    {
      id: "1",
      name: "old",
      rank: 1,
      weight: 1,
      terminalId: "10000018",
      descriptor: "GATE",
      shownDescriptor: "GATE",
      worksWithoutCvv: false,
      amountDigits: 12,
      partialReversal: true,
      partialCapture: true,
      merchantCode: "TG1",
      acquirerId: "400001",
    },
  ]);
});

test("an endpoint's gates are sorted by rank and have their limits", async () => {
  const administration = makeAdministration(audit());
  const limited = await administration.putGate({
    name: "limited",
    kind: "iso87_binary",
    settings: {
      ...settings,
      currencies: ["USD"],
      amountMin: "100",
      amountMax: "9000",
      recurrent: { initiator: "MERCHANT" },
    },
  });
  const id = await makeEndpoint([
    { gateId: limited, rank: 2, weight: 30 },
    { gateId: asGateId("1"), rank: 1, weight: 70 },
  ]);

  const [first, second] = (await load()).endpoints.get(id)?.gates ?? [];

  assert.equal(first?.name, "old");
  assert.equal(first.weight, 70);
  assert.equal(first.shownDescriptor, "SHOP");
  assert.deepEqual(second, {
    id: limited,
    name: "limited",
    rank: 2,
    weight: 30,
    terminalId: "10000018",
    descriptor: "GATE",
    shownDescriptor: "SHOP",
    worksWithoutCvv: false,
    amountDigits: 12,
    partialReversal: true,
    partialCapture: true,
    currencies: ["USD"],
    merchantCode: "TG1",
    acquirerId: "400001",
    amountMin: 100n,
    amountMax: 9_000n,
    recurrent: { initiator: "MERCHANT" },
  });
});

test("an endpoint's gates can be replaced, keeping some, adding some and removing some", async () => {
  const administration = makeAdministration(audit());
  const make = (name: string) => administration.putGate({ name, kind: "sandbox", settings });
  const [stays, goes, comes] = [await make("stays"), await make("goes"), await make("comes")];
  const id = await makeEndpoint([
    { gateId: stays, rank: 1, weight: 1 },
    { gateId: goes, rank: 1, weight: 1 },
  ]);

  await administration.setEndpointGates(id, [
    { gateId: stays, rank: 2, weight: 5 },
    { gateId: comes, rank: 1, weight: 1 },
  ]);

  const gates = (await load()).endpoints.get(id)?.gates ?? [];
  assert.deepEqual(
    gates.map(({ name, rank, weight }) => [name, rank, weight]),
    [
      ["comes", 1, 1],
      ["stays", 2, 5],
    ],
  );
  assert.equal(await administration.removeGate(goes, [database.query]), "removed");
  assert.equal(await administration.removeGate(stays, [database.query]), "in_use");
});

test("a gate through which an order may still have to be settled cannot be removed", async () => {
  const administration = makeAdministration(audit());
  const gateId = await administration.putGate({ name: "owed", kind: "sandbox", settings });
  const used = { identifiers: { gate: { id: gateId } } };
  const other = { identifiers: { gate: { id: "1" } } };

  // An earlier attempt may have used another gate, whose reversal is not proved yet.
  for (const progress of [
    { transaction: used },
    { transaction: { ...other, priorAttempts: [used] } },
    { transaction: other, earlier: [{ ...other, priorAttempts: [used] }] },
  ]) {
    await insertOrder(progress);
    assert.equal(
      await administration.removeGate(gateId, [database.query]),
      "in_use",
      JSON.stringify(progress),
    );
    await database.query("delete from orders");
  }

  assert.equal(await administration.removeGate(gateId, [database.query]), "removed");
});

test("fees are known only where the merchant is shown what payments cost", async () => {
  const administration = makeAdministration(audit());
  const fee = { percent: "2.5", fixed: "30" };
  const gateId = await administration.putGate({
    name: "costly",
    kind: "sandbox",
    settings: { ...settings, fee: { percent: "1" } },
  });
  const id = await makeEndpoint([{ gateId, rank: 1, weight: 1 }]);
  await administration.setEndpoint(id, { threeDSecure: "off", fee }, true);
  const feesOf = async () => (await load()).endpoints.get(id)?.gates[0]?.fees;
  assert.equal(await feesOf(), undefined);

  const [merchant] = (await load()).merchants;
  assert.ok(merchant !== undefined);
  await administration.setMerchant(merchant.id, { commissions: true });

  assert.deepEqual(await feesOf(), { seller: fee, acquirer: { percent: "1" } });
});

test("every change is announced to the nodes", async (t) => {
  const administration = makeAdministration(audit());
  const listener = await database.connect();
  t.after(() => listener.end());
  await listener.query(`listen ${configurationChannel}`);
  let told = 0;
  listener.on("notification", () => {
    told += 1;
  });

  const gateId = await administration.putGate({ name: "told", kind: "sandbox", settings });
  const id = await makeEndpoint([{ gateId, rank: 1, weight: 1 }]);
  await administration.setEndpoint(id, { threeDSecure: "off" }, false);
  await administration.setEndpointGates(id, [{ gateId: asGateId("1"), rank: 1, weight: 1 }]);
  await administration.removeGate(gateId, [database.query]);
  await listener.query("select 1");

  assert.equal(told, 5);
  assert.equal((await load()).endpointById.get(id)?.disabled, "itself");
});

test("a configuration that is read during changes has no broken references", async () => {
  const administration = makeAdministration(audit());
  let isOver = false;
  const making = (async () => {
    for (let count = 0; count < 40; count += 1) {
      const name = `made-${count}`;
      const merchantId = await administration.createMerchant(name, Buffer.from("key"), mainCell);
      const gateId = await administration.putGate({ name, kind: "sandbox", settings });
      const gates = [{ gateId, rank: 1, weight: 1 }];
      await administration.createEndpoint({
        merchantId,
        name,
        currency: "USD",
        gates,
        settings: { threeDSecure: "off" },
      });
    }
    isOver = true;
  })();

  while (!isOver) await load();
  await making;

  assert.equal(
    (await load()).merchants.filter(({ login }) => login.startsWith("made-")).length,
    40,
  );
});

function load() {
  return database.snapshot((query) =>
    loadConfiguration(
      query,
      () => new Secret("key"),
      () => ({ amountDigits: 12 }),
    ),
  );
}

async function makeEndpoint(gates: Parameters<Administration["setEndpointGates"]>[1]) {
  const [merchant] = (await load()).merchants;
  assert.ok(merchant !== undefined);
  return makeAdministration(audit()).createEndpoint({
    merchantId: merchant.id,
    name: "made",
    currency: "USD",
    gates,
    settings: { threeDSecure: "off", descriptor: "SHOP" },
  });
}

type Administration = ReturnType<typeof makeAdministration>;

async function insertEndpoint(): Promise<void> {
  const { query } = database;
  await query("insert into merchants (id, login, name, control_key) values (1, 'a', 'A', '')");
  await query("insert into gates (id, name, kind, settings) values (1, 'old', 'sandbox', $1)", [
    JSON.stringify(settings),
  ]);
  await query("insert into endpoints (id, merchant_id, name, currency) values (1, 1, 'p', 'USD')");
  await query("insert into endpoint_gates values (1, 1, 1, 1)");
}

async function insertOrder(progress: object): Promise<void> {
  await database.query(
    `insert into orders (merchant_id, id, endpoint_id, client_orderid, attempt, digest,
       digest_key, changed_at, version, kind, stage, amount, currency, accepted_at,
       facts, progress)
     values (1, 1, 1, 'a', 1, '', 1, 1, 1, 'sale', 'reversing', 1, 'USD', now(), '{}', $1)`,
    [JSON.stringify(progress)],
  );
  await database.query(
    "insert into due (due_at, order_id, version, merchant_id) values (now(), 1, 1, 1)",
  );
}
