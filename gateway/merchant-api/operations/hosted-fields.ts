/** The operation of hosted fields: the ticket with which a shop's page gets a card's token. */
import { Failure } from "../../values/failure.ts";
import { operation } from "../operation.ts";

export const createEphemeralTicket = operation({
  name: "create-ephemeral-ticket",
  path: "/v4/tokenize/create-ephemeral-ticket/{id}",
  purpose:
    "Returns a ticket for hosted fields. The shop's page exchanges a card for a token with it, " +
    "once and within 15 minutes.",
  request: {},
  control: [],
  versions: ["v4"],
  isQuery: true,

  async handle(_request, { entryPoint, services }) {
    const ticket = await services.hostedFields.issueTicket(entryPoint);
    if (ticket instanceof Failure) return ticket;
    return {
      type: "create-ephemeral-ticket-response",
      fields: [["ephemeralTicket", ticket]],
    };
  },
});
