/** What descriptions and examples of several families have in common. */

export const allOrNothing =
  "All or nothing: one faulty entry refuses the request, with a reason for each fault and its path.";

const notExecuted = {
  plannedEtaDTTM: null,
  arrivalDTTM: null,
  confirmedDTTM: null,
  departureDTTM: null,
  duration: null,
};

/** The execution info of a stop that nobody has been to. */
export const openStopExecution = {
  stopStatus: "10",
  receiveStatus: "00",
  receiveDTTM: null,
  from: notExecuted,
  to: notExecuted,
  exceptionPresent: false,
  exceptions: [],
  cancellation: null,
};

/** Of an order and its customer. */
export const address = {
  name: "Garden Centre",
  addr1: "8 Elm Lane",
  city: "Springfield",
  state: "IL",
  country: "US",
};
