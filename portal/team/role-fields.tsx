/** The role of a user, and the merchant where the role is one of a merchant. */
import { NativeSelect } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMessages } from "../language/language.tsx";
import { call, type User } from "../shell/call.ts";
import { type Chosen, isMerchants, type Role, rolesToGive } from "./roles.ts";

type RoleFieldsProps = {
  readonly user: User;
  readonly chosen: Chosen;
  readonly choose: (chosen: Chosen) => void;
};

export function RoleFields({ user, chosen, choose }: RoleFieldsProps) {
  const messages = useMessages();
  const isOperator = user.merchant === undefined;
  const filters = useQuery({
    queryKey: ["filters"],
    queryFn: ({ signal }) => call("GET /filters", {}, { signal }),
    enabled: isOperator,
  });
  // The table of texts has every role.
  const offered = rolesToGive(Object.keys(messages.roles) as Role[], user);
  return (
    <>
      <NativeSelect
        label={messages.role}
        description={messages.roleHints[chosen.role]}
        value={chosen.role}
        data={offered.map((role) => ({ value: role, label: messages.roles[role] }))}
        onChange={({ currentTarget }) => choose({ ...chosen, role: currentTarget.value as Role })}
      />
      {isOperator && isMerchants(chosen.role) && (
        <NativeSelect
          label={messages.merchant}
          required
          withAsterisk={false}
          value={chosen.merchant}
          data={[
            { value: "", label: "" },
            ...(filters.data?.merchants ?? []).map(({ login }) => ({ value: login, label: login })),
          ]}
          onChange={({ currentTarget }) => choose({ ...chosen, merchant: currentTarget.value })}
        />
      )}
    </>
  );
}
