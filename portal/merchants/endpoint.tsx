/** An endpoint's page: its settings, its gates, and a trial of the gates that a sale would use. */
import { Button, TextInput } from "@mantine/core";
import { useState } from "react";
import { ActionButton } from "../actions/action-button.tsx";
import { Settings } from "../actions/result.tsx";
import { type Row, useRows } from "../actions/values.ts";
import { Facts, Head, Loaded, LoadedPart, Mark, OnOff, Section } from "../design/details.tsx";
import { Table } from "../design/table.tsx";
import { useMessages } from "../language/language.tsx";
import { wordIn } from "../language/rows.ts";
import { type OutputOf, useAnswer } from "../shell/call.ts";
import { submitting } from "../shell/keys.ts";
import { useUser } from "../shell/session.ts";
import { changeQuery, Link, useAddress } from "../shell/url.tsx";
import { conditionsOf, gatesTextOf } from "./terms.ts";

type EndpointDetail = OutputOf<"GET /endpoints/:endpoint">;

export function Endpoint() {
  const found = useAnswer("GET /endpoints/:endpoint", { endpoint: useAddress().item });
  return <Loaded query={found}>{(detail) => <Shown {...detail} />}</Loaded>;
}

function Shown({ line, settings }: EndpointDetail) {
  const messages = useMessages();
  const { isOperator } = useUser();
  const values = { endpoint: line.id };
  return (
    <div className="screen stack">
      <Head
        back={{ to: `merchants/${line.merchant}`, label: line.merchant }}
        title={line.name}
        state={<OnOff isOn={line.enabled} />}
      >
        <ActionButton action="callback secret" values={values} />
        <ActionButton
          action="endpoint set"
          values={values}
          known={{ ...settings, enable: String(line.enabled) }}
        />
      </Head>
      <Facts
        facts={[
          [messages.id, <code key="id">{line.id}</code>],
          [messages.merchant, line.merchant],
          [messages.currency, line.currency],
          ["3-D Secure", wordIn(messages.choices, line.threeds)],
        ]}
      />
      {isOperator && (
        <div className="columns">
          <Gates line={line} />
          <Routing line={line} />
        </div>
      )}
      {isOperator && <Rules values={values} />}
      <CallbackUrls values={values} />
      <Settings settings={settings} />
    </div>
  );
}

type OfEndpoint = { readonly values: { readonly endpoint: string } };

/** The routing rules in their order. A trial reads past orders, so it runs when it is asked for. */
function Rules({ values }: OfEndpoint) {
  const messages = useMessages();
  const found = useRows("route list", values);
  const [isTried, setTried] = useState(false);
  return (
    <Section
      title={messages.fields.routes}
      action={<ActionButton action="route add" values={values} />}
    >
      <LoadedPart query={found}>
        {(rows) => (
          <Table
            className="rows stacked still"
            rows={rows}
            none={messages.noRoutes}
            keyOf={({ rule = "" }) => rule}
            columns={[
              [messages.fields.rule, ({ rule }) => rule, "number plain"],
              [messages.parameters, (row) => conditionsOf(row).join(", "), "wide"],
              [messages.fields.to, ({ to }) => to],
            ]}
            actions={({ rule = "", ...known }) => (
              <>
                {(["route set", "route move", "route remove"] as const).map((each) => (
                  <ActionButton
                    key={each}
                    action={each}
                    name={rule}
                    values={{ ...values, rule }}
                    known={known}
                  />
                ))}
              </>
            )}
          />
        )}
      </LoadedPart>
      {isTried ? (
        <Trial {...values} />
      ) : (
        <Button size="sm" variant="default" onClick={() => setTried(true)}>
          {messages.tryRoutes}
        </Button>
      )}
    </Section>
  );
}

function Trial(values: { readonly endpoint: string }) {
  const messages = useMessages();
  return (
    <LoadedPart query={useRows("route try", values)}>
      {(rows) => (
        <Table
          className="rows stacked still small"
          rows={rows.filter(({ gate }) => gate !== undefined)}
          none={messages.noRoutedOrders}
          keyOf={({ rule, gate }) => `${rule} ${gate}`}
          columns={[
            [messages.fields.rule, ({ rule }) => rule],
            [messages.gate, ({ gate }) => gate],
            [messages.orders, ({ orders }) => orders, "number plain"],
            [messages.movedFrom, ({ moved, from }) => (moved === "0" ? "" : from)],
          ]}
        />
      )}
    </LoadedPart>
  );
}

function CallbackUrls({ values }: OfEndpoint) {
  const messages = useMessages();
  const found = useRows("endpoint callback list", values);
  const [tested, setTested] = useState<object>({});
  return (
    <Section
      title={messages.fields["callback-urls"]}
      action={<ActionButton action="endpoint callback add" values={values} />}
    >
      <TestResult {...tested} />
      <LoadedPart query={found}>
        {(rows) => (
          <Table
            className="rows stacked still"
            rows={rows}
            none={messages.noCallbackUrls}
            keyOf={({ type, status, url }) => `${type} ${status} ${url}`}
            columns={[
              [messages.address, ({ url }) => <code>{url}</code>, "whole"],
              [messages.fields.type, ({ type = "" }) => wordIn(messages.choices, type)],
              [messages.status, (row) => statusIn(row, messages.choices)],
            ]}
            actions={(row) => (
              <>
                <ActionButton
                  action="endpoint callback test"
                  name={row["url"]}
                  values={{ ...values, ...row }}
                  onDone={setTested}
                />
                <ActionButton
                  action="endpoint callback remove"
                  name={row["url"]}
                  values={{ ...values, ...row }}
                />
              </>
            )}
          />
        )}
      </LoadedPart>
    </Section>
  );
}

function statusIn({ status = "" }: Row, choices: Readonly<Record<string, string>>) {
  return choices[`status ${status}`] ?? wordIn(choices, status);
}

function TestResult({ url, outcome, failure, ...result }: Row) {
  const messages = useMessages();
  if (url === undefined) return null;
  const answer = failure || `HTTP ${result["status code"]}`;
  return (
    <p className="verdict" data-is={outcome === "accepted" ? "right" : "wrong"} role="status">
      {messages.testAnswer(url)} {answer}
    </p>
  );
}

type LineProps = { readonly line: EndpointDetail["line"] };

function Gates({ line }: LineProps) {
  const messages = useMessages();
  return (
    <Section
      title={messages.gates}
      action={
        <ActionButton
          action="endpoint gates"
          values={{ endpoint: line.id }}
          known={{ gates: gatesTextOf(line) }}
        />
      }
    >
      <Table
        className="rows stacked still small"
        rows={line.gates}
        keyOf={({ name }) => name}
        columns={[
          [messages.gate, ({ name }) => <Link to={`gates/${name}`}>{name}</Link>],
          [messages.rank, ({ rank }) => rank, "number plain"],
          [messages.weight, ({ weight }) => weight, "number plain"],
        ]}
      />
    </Section>
  );
}

/** The sale's amount is in the URL, so that a user can send the result to a colleague. */
function Routing({ line }: LineProps) {
  const messages = useMessages();
  const { query } = useAddress();
  const amount = query.get("amount") ?? "";
  const [written, setWritten] = useState(amount);
  return (
    <Section title={messages.routing}>
      <form
        className="line inline-form"
        onSubmit={submitting(() => changeQuery({ amount: written.trim() }, { replaces: true }))}
      >
        <TextInput
          aria-label={messages.amountOfSale}
          placeholder={`${messages.amountOfSale} (${line.currency})`}
          inputMode="decimal"
          maxLength={20}
          value={written}
          onChange={({ currentTarget }) => setWritten(currentTarget.value)}
        />
        <Button type="submit" size="sm" variant="default">
          {messages.tellRoute}
        </Button>
      </form>
      {amount === "" ? (
        <p className="quiet">{messages.routingHint}</p>
      ) : (
        <Routes endpoint={line.id} amount={amount} />
      )}
    </Section>
  );
}

function Routes(asked: { readonly endpoint: string; readonly amount: string }) {
  const messages = useMessages();
  return (
    <LoadedPart query={useAnswer("GET /routing", asked)}>
      {({ routes }) => (
        <ul className="items">
          {routes.map(({ gate, share, outcome, why }) => (
            <li key={`${gate} ${why}`}>
              <Mark kind={gate === undefined ? "declined" : "approved"}>
                {messages.routeOutcomes[outcome]}
              </Mark>
              <b>{gate}</b>
              {routes.length > 1 && <span>{Math.round(share * 100)} %</span>}
              <span className="quiet">{why}</span>
            </li>
          ))}
        </ul>
      )}
    </LoadedPart>
  );
}
