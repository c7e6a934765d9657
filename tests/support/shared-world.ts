/**
 * A world that serves the tests of a file one after the other, for tests that only pay and read the
 * answers, because starting a world takes longer than most of them. Each test sees only the
 * messages, bookings and log lines of its own time. A world whose clock is far ahead, or which has
 * unfinished work, ends with its test.
 */
import { isDeepStrictEqual } from "node:util";
import { atEnd, type Test } from "./clean-up.ts";
import { endOfFile } from "./end-of-file.ts";
import { startWorld, type World } from "./world.ts";

type Settings = Readonly<Record<string, string>>;
type Prepare = (world: World) => Promise<unknown>;
type Owned = {
  readonly world: World;
  readonly settings: Settings;
  readonly prepare: Prepare;
  readonly switches: ReturnType<World["bank"]["switches"]>;
  end(): Promise<void>;
};

/**
 * Members of a world through which a test would change it for the next test, or see what earlier
 * tests have left.
 */
const notShared: ReadonlySet<PropertyKey> = new Set<keyof World>([
  ...(["installation", "dataDir", "stranger", "otherNode", "changeEndpoint"] as const),
  ...(["changeMerchant", "changeGate", "setGate", "placeGates", "screenBy"] as const),
]);
/**
 * The clock may advance this far, because dates of the gateway and the bank then stay the same,
 * except near midnight.
 */
const aheadMaxMs = 3_600_000;

const idle = new Set<Owned>();

/**
 * Returns a world with these settings. `prepare` changes a new world; worlds with the same function
 * are shared.
 */
export async function joinWorld(t: Test, settings: Settings = {}, prepare = leaveAsItIs) {
  const known = [...idle].find(
    (each) => each.prepare === prepare && isDeepStrictEqual(each.settings, settings),
  );
  const owned = known ?? (await startOwned(settings, prepare));
  idle.delete(owned);
  atEnd(t, async () => {
    if (await comesToRest(owned)) idle.add(owned);
    else await owned.end();
  });
  return seenFromNow(owned.world);
}

async function leaveAsItIs(_: World): Promise<unknown> {
  return undefined;
}

async function startOwned(settings: Settings, prepare: Prepare): Promise<Owned> {
  let clean: () => unknown = () => undefined;
  const after: Test["after"] = (given) => {
    clean = given;
  };
  const world = await startWorld({ after }, settings);
  // At a second call nothing is left to clean up.
  const end = async () => void (await clean());
  // This is registered after the world's database, and therefore cleaned up before it.
  atEnd(endOfFile, end);
  await prepare(world);
  return { world, settings, prepare, switches: world.bank.switches(), end };
}

function seenFromNow(world: World): World {
  const { bank } = world;
  bank.forgetMessages();
  world.logged.length = 0;
  const before = bank.ledger().length;
  const ledger: typeof bank.ledger = (reference) =>
    reference === undefined ? bank.ledger().slice(before) : bank.ledger(reference);
  const seen = { ...bank, ledger };
  return new Proxy(world, {
    get(target, name) {
      if (notShared.has(name)) throw new Error(`A test that needs ${String(name)} starts a world.`);
      return name === "bank" ? seen : Reflect.get(target, name, target);
    },
  });
}

async function comesToRest({ world, switches }: Owned): Promise<boolean> {
  if (world.clock.now() - Date.now() > aheadMaxMs || !(await world.isAtRest())) return false;
  await world.bank.setSwitches(switches);
  await world.linksUp();
  return true;
}
