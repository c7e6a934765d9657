/** Endpoints and groups in tables, for a merchant and for a gate. */
import { ActionButton } from "../actions/action-button.tsx";
import { OnOff } from "../design/details.tsx";
import { Name, StackedTable } from "../design/table.tsx";
import { useConfigurationMessages } from "../language/language.tsx";
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
    <StackedTable
      rows={endpoints}
      keyOf={({ id }) => id}
      opens={({ id }) => `endpoints/${id}`}
      columns={[
        [messages.name, ({ id, name }) => <Name name={name} to={`endpoints/${id}`} />],
        [messages.status, ({ enabled }) => <OnOff isOn={enabled} />],
        [messages.id, ({ id }) => id, "mono"],
        withMerchant && [messages.merchant, ({ merchant }) => merchant, "quiet"],
        [messages.currency, ({ currency }) => currency],
        ["3-D Secure", ({ threeds }) => messages.choices[threeds] ?? threeds, "quiet"],
        withGates && [messages.gates, gatesOf, "wide quiet"],
      ]}
    />
  );
}

function gatesOf({ gates }: EndpointLine): string {
  return gates.map(({ name }) => name).join(", ");
}

type GroupTableProps = {
  readonly groups: MerchantDetail["groups"];
  readonly mayChange: boolean;
};

export function GroupTable({ groups, mayChange }: GroupTableProps) {
  const messages = useConfigurationMessages();
  return (
    <StackedTable
      rows={groups}
      keyOf={({ id }) => id}
      columns={[
        [messages.name, ({ name }) => <b>{name}</b>],
        [messages.status, ({ enabled }) => <OnOff isOn={enabled} />],
        [messages.id, ({ id }) => id, "mono"],
        [messages.endpoints, ({ endpoints }) => membersOf(endpoints), "wide"],
      ]}
      actions={
        mayChange &&
        (({ id, enabled, endpoints }) => (
          <ActionButton
            action="group set"
            label={messages.change}
            values={{ group: id }}
            known={termsOf(enabled, endpoints)}
          />
        ))
      }
    />
  );
}
