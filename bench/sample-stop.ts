/** The 4 KB stop document that the benchmarks send. */
const product = (index: number) => `
    <StopDetail>
      <StopDetailSeq>${index}</StopDetailSeq>
      <Product>Product number ${index}</Product>
      <ProductIdentifier>PID-000${index}-4711</ProductIdentifier>
      <Quantity UOM="cartons">${index}</Quantity>
      <Weight UOM="LB">12.5</Weight>
      <CustomerOrderNbr>CO-99887766</CustomerOrderNbr>
    </StopDetail>`;

const details = Array.from({ length: 11 }, (_, index) => product(index + 1)).join("");

/** A stop file of about 4 KB for that stop number. */
export function sampleStop(stopNbr: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<Stop>
  <Function>01</Function>
  <StopNbr>${stopNbr}</StopNbr>
  <StopType>DO</StopType>
  <ShipmentNbr>S${stopNbr}</ShipmentNbr>
  <ShipToName>Customer &amp; Sons</ShipToName>
  <ShipToAddr1>1 Main Street</ShipToAddr1>
  <ShipToCity>Atlanta</ShipToCity>
  <ShipToState>GA</ShipToState>
  <ShipToZip>30301</ShipToZip>
  <ShipToCountry>US</ShipToCountry>
  <EarliestStartDTTM>2026-11-05T08:00:00</EarliestStartDTTM>
  <LatestStartDTTM>2026-11-05T12:00:00</LatestStartDTTM>
  <TimeZone>America/New_York</TimeZone>
  <Comments><Comment Type="DRV">Ring the bell twice, then wait for the gate to open.</Comment></Comments>
  <StopDetails>${details}
  </StopDetails>
</Stop>
`;
}

/** The name of the nth stop file, one second after the one before. */
export function sampleName(index: number): { readonly stopNbr: string; readonly name: string } {
  const stopNbr = `s${index}`;
  const time = new Date(Date.UTC(2026, 0, 1) + index * 1000).toISOString();
  const stamp = time.replaceAll(/[-:]/g, "").replace("T", "_").slice(0, 15);
  return { stopNbr, name: `${stopNbr}_${stamp}.xml` };
}
