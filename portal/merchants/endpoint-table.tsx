/** Endpoints and groups in tables, for a merchant and for a gate. */
import { CommandButton } from "../commands/command-form.tsx";
import { OnOff } from "../design/details.tsx";
import { useConfigurationMessages } from "../language/language.tsx";
import { go, Link } from "../shell/url.tsx";
import type { MerchantDetail } from "./settings.tsx";
import { membersOf, termsOf } from "./terms.ts";

export type EndpointLine = MerchantDetail["endpoints"][number];

type EndpointTableProps = {
  readonly endpoints: readonly EndpointLine[];
  readonly withMerchant?: boolean;
};

export function EndpointTable({ endpoints, withMerchant = false }: EndpointTableProps) {
  const messages = useConfigurationMessages();
  const withGates = endpoints.some(({ gates }) => gates.length > 0);
  return (
    <table className="rows stacked">
      <thead>
        <tr>
          <th>{messages.name}</th>
          <th>{messages.status}</th>
          <th>{messages.id}</th>
          {withMerchant && <th>{messages.merchant}</th>}
          <th>{messages.currency}</th>
          <th>3-D Secure</th>
          {withGates && <th>{messages.gates}</th>}
        </tr>
      </thead>
      <tbody>
        {endpoints.map((endpoint) => (
          <tr key={endpoint.id} onClick={() => go(`endpoints/${endpoint.id}`)}>
            <td>
              <Link to={`endpoints/${endpoint.id}`}>
                <b>{endpoint.name}</b>
              </Link>
            </td>
            <td>
              <OnOff isOn={endpoint.enabled} />
            </td>
            <td className="mono" data-name={messages.id}>
              {endpoint.id}
            </td>
            {withMerchant && (
              <td className="quiet" data-name={messages.merchant}>
                {endpoint.merchant}
              </td>
            )}
            <td data-name={messages.currency}>{endpoint.currency}</td>
            <td className="quiet" data-name="3-D Secure">
              {messages.choices[endpoint.threeds] ?? endpoint.threeds}
            </td>
            {withGates && (
              <td className="wide quiet" data-name={messages.gates}>
                {endpoint.gates.map(({ name }) => name).join(", ")}
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

type GroupTableProps = {
  readonly groups: MerchantDetail["groups"];
  readonly mayChange: boolean;
};

export function GroupTable({ groups, mayChange }: GroupTableProps) {
  const messages = useConfigurationMessages();
  return (
    <table className="rows stacked still">
      <thead>
        <tr>
          <th>{messages.name}</th>
          <th>{messages.status}</th>
          <th>{messages.id}</th>
          <th>{messages.endpoints}</th>
          {mayChange && <th aria-label={messages.does} />}
        </tr>
      </thead>
      <tbody>
        {groups.map(({ id, name, enabled, endpoints }) => (
          <tr key={id}>
            <td>
              <b>{name}</b>
            </td>
            <td>
              <OnOff isOn={enabled} />
            </td>
            <td className="mono" data-name={messages.id}>
              {id}
            </td>
            <td className="wide" data-name={messages.endpoints}>
              {membersOf(endpoints)}
            </td>
            {mayChange && (
              <td className="row-actions">
                <CommandButton
                  command="group set"
                  label={messages.change}
                  words={[id]}
                  known={termsOf(enabled, endpoints)}
                />
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
