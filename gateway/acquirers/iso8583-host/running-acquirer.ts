/**
 * The acquirer of a gate while its settings change. Later messages use the new settings. If the
 * links change, orders use the old ones until the first new one is up; the old ones are then
 * drained, so that no order fails because of the change.
 */
import { isDeepStrictEqual } from "node:util";
import type { DecodeFault, IsoMessage } from "@tollgate/protocols/iso8583";
import type { Acquirer } from "../acquirer.ts";
import {
  type ConfiguredGate,
  consequences,
  type GateSettings,
  type RunningAcquirer,
  type StoreKey,
} from "../gates.ts";
import { type GateAuthentication, makeGateAuthentication } from "./connection.ts";
import {
  dialects,
  type GateVersion,
  type Iso8583Options,
  makeIso8583Acquirer,
  makeOnUnmatched,
} from "./connector.ts";
import type { Dialect } from "./dialect.ts";
import { askForKey, type KeyExchange, makeKeyExchange } from "./key-exchange.ts";
import {
  type Conversation,
  type LinkLimits,
  type LinkState,
  takeAnswer,
  usualLinkLimits,
} from "./link.ts";
import { type LinkFacts, type LinkShare, Links } from "./links.ts";
import { Recent } from "./pending-answers.ts";

type Options = Iso8583Options & {
  readonly limits?: Partial<LinkLimits>;
  readonly random?: () => number;
  /** This process's share of the gate's connections; all if absent. */
  readonly share?: LinkShare;
  readonly onReady?: () => void;
  /** If absent, keys that the host delivers are refused. */
  readonly storeKey?: StoreKey;
};

type Version = GateVersion & {
  readonly gate: ConfiguredGate;
  readonly acquirer: Acquirer;
  readonly authentication: GateAuthentication;
  readonly exchange: KeyExchange;
};

/** The parts that a version takes over from the previous one if the links stay. */
type Kept = Pick<Version, "links" | "authentication" | "exchange">;

/** Connects at once. Throws if the settings do not fit the messages. */
export function startIso8583Acquirer(gate: ConfiguredGate, options: Options): RunningAcquirer {
  const limits = { ...usualLinkLimits, ...options.limits };
  const { storeKey = () => Promise.reject(new Error("keys are not taken")) } = options;
  const conversation: Conversation = {
    waiting: new Map(),
    answered: new Recent(limits.answersRemembered),
  };
  const closing = new Set<Promise<void>>();
  let cancelRetirement = () => {};
  let previous: Version | undefined;
  let current = open(gate);

  return {
    isReady: () => version().links.isReady(),
    connections: () => current.links.connections,
    hasPlaceFor: (...given) => version().acquirer.hasPlaceFor(...given),
    authorize: (...given) => version().acquirer.authorize(...given),
    get inquire() {
      return version().acquirer.inquire;
    },
    get inquireAfter() {
      return version().acquirer.inquireAfter;
    },
    reverse: (...given) => version().acquirer.reverse(...given),
    capture: (...given) => version().acquirer.capture(...given),
    refund: (...given) => version().acquirer.refund(...given),

    // The text is a message that another process of the gate has received and passed on.
    takeAnswer: (answer, receivedAt) =>
      takeAnswer(conversation, JSON.parse(answer) as IsoMessage, receivedAt),

    askForKey() {
      const { dialect: wire, links, exchange, settings } = version();
      const { clock, answerTimeoutMs } = options;
      return askForKey({ wire, links, exchange, clock, answerTimeoutMs, zone: settings.zone });
    },

    change(next) {
      if (isDeepStrictEqual(linkSettingsOf(next), linkSettingsOf(current.gate))) {
        const changed = versionOf(next, current);
        useKeysOf(next);
        current = changed;
        return;
      }
      const opened = open(next);
      if (next.settings.hostChanges !== current.gate.settings.hostChanges) {
        // Messages for the new host must not be sent over the links to the old one.
        retirePrevious();
        retire(current);
        current = opened;
        return;
      }
      // The present links are used until the new ones are up.
      const inUse = version();
      if (inUse === current) retirePrevious();
      else retire(current);
      cancelRetirement();
      [previous, current] = [inUse, opened];
      // A host that accepts no more connections accepts the new ones once the old ones are closed.
      cancelRetirement = options.clock.after(limits.drainMs, retirePrevious);
    },

    async stop() {
      retirePrevious();
      retire(current);
      await Promise.all(closing);
    },
  };

  /** The gate's keys are used on every connection, from the next message on. */
  function useKeysOf({ macKeys = [] }: ConfiguredGate): void {
    const [ids, known] = [macKeys, current.gate.macKeys ?? []].map((keys) =>
      keys.map(({ id }) => id),
    );
    if (isDeepStrictEqual(ids, known)) return;
    current.authentication.use(macKeys);
    previous?.authentication.use(macKeys);
    options.log("acquirer.mac_keys_changed", { keys: ids });
  }

  /** The settings belong to their version's links: another host may expect another terminal. */
  function version(): Version {
    if (previous === undefined || current.links.isReady()) return current;
    return previous.links.isReady() ? previous : current;
  }

  function open(next: ConfiguredGate): Version {
    const dialect = dialects[next.kind];
    const authentication = makeGateAuthentication(dialect, next.macKeys, () => options.clock.now());
    const exchange = makeKeyExchange({
      wire: dialect,
      zoneKey: () => current.gate.zoneKey,
      storeKey,
      log: options.log,
    });
    const wire = { ...dialect, ...authentication };
    const links: Links = new Links({
      wire,
      settings: next.settings,
      share: options.share,
      conversation,
      limits,
      clock: options.clock,
      random: options.random ?? Math.random,
      events: {
        ...eventsOf(dialect, next.settings, options),
        onRequest: exchange.answer,
        onReady() {
          if (links === current.links) retirePrevious();
          options.onReady?.();
        },
      },
    });
    const opened = versionOf(next, { links, authentication, exchange });
    links.open();
    return opened;
  }

  function versionOf(next: ConfiguredGate, { links, authentication, exchange }: Kept): Version {
    const made = { dialect: dialects[next.kind], settings: next.settings, links };
    const acquirer = makeIso8583Acquirer(made, options);
    return { ...made, authentication, exchange, gate: next, acquirer };
  }

  function retirePrevious(): void {
    cancelRetirement();
    if (previous !== undefined) retire(previous);
    previous = undefined;
  }

  function retire({ links }: Version): void {
    const closed = links.close();
    closing.add(closed);
    void closed.finally(() => closing.delete(closed));
  }
}

function linkSettingsOf({ kind, settings }: ConfiguredGate) {
  const own = Object.entries(settings).filter(([key]) => {
    // Every name in a gate's settings is one of `GateSettings`, so the cast is safe.
    return consequences[key as keyof GateSettings] === "links";
  });
  return { kind, ...Object.fromEntries(own) };
}

function eventsOf(dialect: Dialect, { zone }: GateSettings, options: Iso8583Options) {
  const { log } = options;
  return {
    onState(state: LinkState, facts: LinkFacts): void {
      if (facts.why.startsWith("tls: ")) log("acquirer.tls_failed", facts);
      log(eventOf(state), { state, ...facts });
    },
    onCertificateFault: (cause: string) => log("acquirer.certificate_unusable", { cause }),
    onCertificateExpiring: (days: number) => log("acquirer.certificate_expiring", { days }),
    onUnmatched: makeOnUnmatched(dialect, zone, options),
    onUnreadable({ field, reason }: DecodeFault, bytes: number): void {
      options.onUnreadable(reason);
      const isForged = reason === "mac_missing" || reason === "mac_wrong";
      const event = isForged ? "acquirer.message_not_authentic" : "acquirer.message_unreadable";
      log(event, { field, reason, bytes });
    },
  };
}

function eventOf(state: LinkState) {
  if (state === "online") return "acquirer.link_up";
  return state === "down" ? "acquirer.link_down" : "acquirer.link_changed";
}
