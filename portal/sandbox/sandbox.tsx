/**
 * The screen of the sandbox in staging: test payments, test cards, the switches of the sandbox
 * bank, and a comparison of the bank's ledger with the gateway's orders.
 */
import { Button, Checkbox, TextInput } from "@mantine/core";
import { useEffect, useState } from "react";
import { usePerformer } from "../actions/performer.tsx";
import { Head, Loaded, Mark, Section, Tabs } from "../design/details.tsx";
import { List } from "../design/list.tsx";
import { Refusal } from "../design/states.tsx";
import { Status } from "../design/status.tsx";
import { Table } from "../design/table.tsx";
import { useMessages } from "../language/language.tsx";
import { call, useAnswer } from "../shell/call.ts";
import { submitting } from "../shell/keys.ts";
import { Link } from "../shell/url.tsx";
import {
  type Booked,
  comparisonOf,
  describeCard,
  endpointFor,
  endpointNamed,
  type Payment,
  payments,
  type SandboxView,
} from "./test-payments.ts";

export function Sandbox() {
  const messages = useMessages();
  const found = useAnswer("GET /sandbox", {});
  return (
    <Loaded query={found}>
      {(sandbox) => (
        <div className="screen stack">
          <Head
            title={messages.sandbox}
            state={<span className="note">{messages.sandboxHint}</span>}
          >
            <a href={sandbox.shop}>{messages.demonstrationShop}</a>
          </Head>
          <Tabs
            path="sandbox"
            label={messages.views}
            parameter="view"
            tabs={[
              ["testPayments", messages.testPayments, () => <TestPayments sandbox={sandbox} />],
              ["testCards", messages.testCards, () => <Cards sandbox={sandbox} />],
              ["switches", messages.switches, () => <Switches sandbox={sandbox} />],
              ["ledger", messages.ledger, () => <Ledger />],
            ]}
          />
        </div>
      )}
    </Loaded>
  );
}

function TestPayments({ sandbox }: { readonly sandbox: SandboxView }) {
  const messages = useMessages();
  return (
    <ul className="payments">
      {(Object.keys(payments) as (keyof typeof payments)[]).map((name) => {
        const payment: Payment = payments[name];
        const endpoint = endpointNamed(payment.endpoint, sandbox);
        return (
          <li className="stack" key={name}>
            <h2>{messages.payments[name]}</h2>
            <p className="quiet">{messages.paymentHints[name]}</p>
            <PayButton label={messages.pay} payment={{ ...payment, endpoint }} />
          </li>
        );
      })}
    </ul>
  );
}

function Cards({ sandbox }: { readonly sandbox: SandboxView }) {
  const messages = useMessages();
  const groups = Map.groupBy(sandbox.cards, ({ group }) => group);
  return (
    <>
      <p className="quiet">{messages.cardHint}</p>
      {[...groups].map(([group, cards]) => (
        <Section key={group} title={group}>
          <Table
            rows={cards}
            keyOf={({ name }) => name}
            columns={[
              [
                messages.card,
                ({ name, card }) => (
                  <>
                    <b>{name}</b>
                    <code>{card}</code>
                  </>
                ),
                "test-card",
              ],
              [messages.whatHappens, ({ what }) => describeCard(what), "text quiet"],
            ]}
            actions={({ name }) => (
              <PayButton
                label={messages.payWith(name)}
                payment={{ card: name, endpoint: endpointFor(group, sandbox) }}
              />
            )}
          />
        </Section>
      ))}
    </>
  );
}

type PayButtonProps = { readonly label: string; readonly payment: Payment };

/** If the cardholder has to authenticate, the user opens the challenge by another click. */
function PayButton({ label, payment }: PayButtonProps) {
  const messages = useMessages();
  const pay = usePerformer(() => call("POST /sandbox/pay", payment));
  const { data } = pay;
  return (
    <>
      <div className="line">
        <Button variant="default" loading={pay.isPending} onClick={() => pay.mutate()}>
          {label}
        </Button>
        {data && (
          <span className="line" role="status">
            <Status status={data.status} />
            <Link to={`orders/${data.order}`}>{data.order}</Link>
          </span>
        )}
      </div>
      {data?.redirect !== undefined && (
        <Button component="a" href={data.redirect}>
          {messages.goOnAtBank}
        </Button>
      )}
      <Refusal text={pay.error?.message} />
    </>
  );
}

const againEveryMs = 5_000;

function Ledger() {
  const messages = useMessages();
  const found = useAnswer("GET /sandbox/ledger", {}, { everyMs: againEveryMs });
  return (
    <List
      found={found}
      rowsOf={({ booked }) => booked}
      none={[messages.noBookings, messages.noBookingsHint]}
    >
      {(booked) => <Books booked={booked} />}
    </List>
  );
}

function Books({ booked }: { readonly booked: readonly Booked[] }) {
  const messages = useMessages();
  const differing = booked.filter(({ differs }) => differs).length;
  const show = (money: Booked["bank"]) =>
    money === undefined ? messages.nothingBooked : `${money.text} ${money.currency}`;
  return (
    <>
      <p className="quiet">{messages.ledgerHint}</p>
      <p className={differing === 0 ? "success" : "refusal"} role="status">
        {differing === 0 ? messages.booksAgree : messages.booksDiffer(differing)}
      </p>
      <Table
        rows={booked}
        keyOf={({ reference }) => reference}
        columns={[
          [
            messages.order,
            ({ order }) =>
              order === undefined ? (
                messages.unknownHere
              ) : (
                <Link to={`orders/${order}`}>{order}</Link>
              ),
          ],
          [messages.reference, ({ reference }) => <code>{reference}</code>, "mono"],
          [messages.atBank, ({ bank }) => show(bank), "number plain"],
          [
            messages.here,
            ({ gateway, isHeld }) => (
              <>
                {show(gateway)} {isHeld && <small>{messages.held}</small>}
              </>
            ),
            "number plain",
          ],
          [messages.difference, (row) => <Comparison row={row} />],
        ]}
      />
    </>
  );
}

function Comparison({ row }: { readonly row: Booked }) {
  const [colour, word] = comparisonOf(row);
  return <Mark kind={colour}>{useMessages()[word]}</Mark>;
}

type Switch = SandboxView["switches"][number];

/** The sandbox bank's switches: its answers, their delay, and deliberate errors. */
function Switches({ sandbox }: { readonly sandbox: SandboxView }) {
  const messages = useMessages();
  const changed = sandbox.switches.filter(({ isOff }) => !isOff).length;
  return (
    <>
      {changed > 0 && <p className="quiet">{messages.changedSwitches(changed)}</p>}
      <ul className="items">
        {sandbox.switches.map((each) => (
          <li key={each.name}>
            <OneSwitch of={each} />
          </li>
        ))}
      </ul>
    </>
  );
}

function OneSwitch({ of: { name, value, what, takes, isFlag, isOff } }: { readonly of: Switch }) {
  const messages = useMessages();
  const [written, setWritten] = useState(value);
  useEffect(() => setWritten(value), [value]);
  const set = usePerformer((next: string) => call("POST /sandbox/switch", { name, value: next }));
  return (
    <form
      className="line switch"
      onSubmit={submitting(() => set.mutate(written))}
      data-changed={isOff ? undefined : true}
    >
      <div>
        <b>{name}</b>
        <small>{what}</small>
      </div>
      {isFlag ? (
        <Checkbox
          size="md"
          aria-label={name}
          checked={value === "true"}
          onChange={({ currentTarget }) => set.mutate(String(currentTarget.checked))}
        />
      ) : (
        <div className="line">
          <TextInput
            aria-label={name}
            placeholder={messages.usual}
            title={takes}
            value={written}
            onChange={({ currentTarget }) => setWritten(currentTarget.value)}
          />
          {written !== value && (
            <Button type="submit" loading={set.isPending}>
              {messages.set}
            </Button>
          )}
          {!isOff && written === value && (
            <Button variant="default" onClick={() => set.mutate("")}>
              {messages.reset}
            </Button>
          )}
        </div>
      )}
      <Refusal text={set.error?.message} />
    </form>
  );
}
