/** The directory servers of 3-D Secure. */
import { ActionButton } from "../actions/action-button.tsx";
import { type Row, useRows } from "../actions/values.ts";
import { LoadedPart, Mark, Section } from "../design/details.tsx";
import { Table } from "../design/table.tsx";
import { useMessages } from "../language/language.tsx";
import { useUser } from "../shell/session.ts";
import { addressOf, filesOf } from "./gate-lines.ts";

const right = "change_acquiring";

export function Directories() {
  const messages = useMessages();
  const { may } = useUser();
  const found = useRows("directory list");
  return (
    <Section
      title={messages.directories}
      action={<ActionButton action="directory put" label={messages.newDirectory} />}
    >
      <LoadedPart query={found}>
        {(servers) => (
          <Table
            rows={servers}
            none={messages.noDirectories}
            keyOf={({ name = "" }) => name}
            columns={[
              [messages.fields.name, ({ name }) => <b>{name}</b>],
              [messages.files, (server) => <Files server={server} />],
              [messages.network, ({ networks }) => networks, "quiet"],
              [messages.cardRanges, ({ ranges }) => ranges, "number plain"],
              [messages.address, addressOf, "wide quiet"],
            ]}
            actions={may(right) && (({ name = "" }) => <ServerActions name={name} />)}
          />
        )}
      </LoadedPart>
    </Section>
  );
}

function Files({ server }: { readonly server: Row }) {
  const [colour, text] = filesOf(server, useMessages().good);
  return <Mark kind={colour}>{text}</Mark>;
}

function ServerActions({ name }: { readonly name: string }) {
  // The form starts with the current settings.
  const [known] = useRows("directory show", { name }).data ?? [];
  const values = { name };
  return (
    <>
      {known && <ActionButton action="directory put" values={values} known={known} />}
      <ActionButton action="directory refresh" values={values} />
      <ActionButton name={name} action="directory remove" values={values} />
    </>
  );
}
