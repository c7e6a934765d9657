/** One endpoint: its settings, the gates behind it, and which of them a sale would take. */
import { Button, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ActionButton } from "../actions/action-button.tsx";
import { Facts, Head, Loaded, LoadedPart, Mark, OnOff, Section } from "../design/details.tsx";
import { TableHead } from "../design/table.tsx";
import { useConfigurationMessages } from "../language/language.tsx";
import { call, type OutputOf, type User } from "../shell/call.ts";
import { submitting } from "../shell/keys.ts";
import { changeQuery, Link, usePlace } from "../shell/url.tsx";
import { Settings } from "./settings.tsx";
import { placesOf } from "./terms.ts";

type EndpointDetail = OutputOf<"GET /endpoints/:endpoint">;

export function Endpoint({ user }: { readonly user: User }) {
  const { item: endpoint } = usePlace();
  const found = useQuery({
    queryKey: ["endpoint", endpoint],
    queryFn: ({ signal }) => call("GET /endpoints/:endpoint", { endpoint }, { signal }),
  });
  return <Loaded query={found}>{(detail) => <Shown detail={detail} user={user} />}</Loaded>;
}

function Shown({ detail, user }: { readonly detail: EndpointDetail; readonly user: User }) {
  const messages = useConfigurationMessages();
  const { line, settings } = detail;
  const mayChange = user.rights.includes("change_merchants");
  return (
    <div className="screen">
      <Head
        back={{ to: `merchants/${line.merchant}`, label: line.merchant }}
        title={line.name}
        state={<OnOff isOn={line.enabled} />}
      >
        {user.rights.includes("reveal_secrets") && (
          <ActionButton
            action="callback secret"
            label={messages.callbackSecret}
            values={{ endpoint: line.id }}
          />
        )}
        {mayChange && (
          <ActionButton
            action="endpoint set"
            label={messages.change}
            values={{ endpoint: line.id }}
            known={{ ...settings, enable: String(line.enabled) }}
          />
        )}
      </Head>
      <Facts
        facts={[
          [messages.id, <code key="id">{line.id}</code>],
          [messages.merchant, line.merchant],
          [messages.currency, line.currency],
          ["3-D Secure", messages.choices[line.threeds] ?? line.threeds],
        ]}
      />
      {user.merchant === undefined && (
        <div className="columns">
          <Gates line={line} mayChange={mayChange} />
          <Routing line={line} />
        </div>
      )}
      <Settings settings={settings} action={null} />
    </div>
  );
}

type LineProps = { readonly line: EndpointDetail["line"] };

function Gates({ line, mayChange }: LineProps & { readonly mayChange: boolean }) {
  const messages = useConfigurationMessages();
  return (
    <Section
      title={messages.gates}
      action={
        mayChange && (
          <ActionButton
            action="endpoint gates"
            label={messages.change}
            values={{ endpoint: line.id }}
            known={{ gates: placesOf(line) }}
          />
        )
      }
    >
      <table className="rows still small">
        <TableHead
          columns={[messages.gate, [messages.rank, "number"], [messages.weight, "number"]]}
        />
        <tbody>
          {line.gates.map(({ name, rank, weight }) => (
            <tr key={name}>
              <td>
                <Link to={`gates/${name}`}>{name}</Link>
              </td>
              <td className="number plain">{rank}</td>
              <td className="number plain">{weight}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  );
}

/** The amount is in the address: an answer can be sent to a colleague. */
function Routing({ line }: LineProps) {
  const messages = useConfigurationMessages();
  const { query } = usePlace();
  const amount = query.get("amount") ?? "";
  const [written, setWritten] = useState(amount);
  return (
    <Section title={messages.routing}>
      <form
        className="inline-form"
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

function Routes({ endpoint, amount }: { readonly endpoint: string; readonly amount: string }) {
  const messages = useConfigurationMessages();
  const found = useQuery({
    queryKey: ["routing", endpoint, amount],
    queryFn: ({ signal }) => call("GET /routing", { endpoint, amount }, { signal }),
  });
  return (
    <LoadedPart query={found}>
      {({ routes }) => (
        <ul className="routes">
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
