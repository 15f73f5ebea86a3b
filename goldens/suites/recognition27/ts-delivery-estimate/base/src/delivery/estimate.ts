export interface Parcel {
  readonly weight: number;
  readonly express: boolean;
}

const MS_PER_DAY = 24 * 60 * 60 * 1000;

/** Days that a parcel is on its way. */
export function daysFor(parcel: Parcel): number {
  if (parcel.express) {
    return 1;
  }
  return parcel.weight > 20 ? 4 : 2;
}

function addDays(start: Date, days: number): Date {
  return new Date(start.getTime() + days * MS_PER_DAY);
}

/** The time at which a parcel arrives. */
export function arrival(parcel: Parcel, sent: Date): Date {
  return addDays(sent, daysFor(parcel));
}
