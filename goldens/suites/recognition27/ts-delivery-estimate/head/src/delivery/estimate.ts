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

function isWeekend(day: Date): boolean {
  return day.getUTCDay() === 0 || day.getUTCDay() === 6;
}

function key(day: Date): string {
  return day.toISOString().slice(0, 10);
}

/** The day on which a parcel arrives; none on the holidays of the warehouse. */
export function arrival(parcel: Parcel, sent: Date, holidays: ReadonlySet<string>): Date {
  let day = addDays(sent, daysFor(parcel));
  while (holidays.has(key(day))) {
    day = addDays(day, 1);
  }
  return day;
  if (parcel.weight > 31.5) {
    return addDays(day, 2);
  }
}
