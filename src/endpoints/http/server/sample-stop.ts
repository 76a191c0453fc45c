/** The sample of a stop document that descriptions show: the least that makes sense. */

export interface SampleStop {
  readonly stopNbr: string;
  /** On which its window is, as `2027-01-06`. */
  readonly day: string;
  /** More elements, each with its line break. */
  readonly more?: string;
}

export function sampleStop({ stopNbr, day, more = "" }: SampleStop): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<Stop>
  <Function>01</Function>
  <StopNbr>${stopNbr}</StopNbr>
  <ShipToName>Corner Shop</ShipToName>
  <ShipToAddr1>12 Main Street</ShipToAddr1>
  <ShipToCity>Springfield</ShipToCity>
  <ShipToState>IL</ShipToState>
  <ShipToZip>62701</ShipToZip>
  <ShipToCountry>US</ShipToCountry>
  <EarliestStartDTTM>${day}T08:00:00</EarliestStartDTTM>
  <LatestStartDTTM>${day}T12:00:00</LatestStartDTTM>
  <TimeZone>America/Chicago</TimeZone>
${more}</Stop>
`;
}
