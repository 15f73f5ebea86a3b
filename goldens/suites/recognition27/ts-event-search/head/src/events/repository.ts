export interface Event {
  readonly id: number;
  readonly title: string;
  readonly venue: string | null;
}

export interface Database {
  query<Row>(text: string, values?: readonly unknown[]): Promise<{ rows: Row[] }>;
}

const COLUMNS = 'SELECT id, title, venue FROM events';

/** Events of the programme. */
export class EventRepository {
  constructor(private readonly db: Database) {}

  /** The next events. */
  async upcoming(limit: number): Promise<Event[]> {
    const found = await this.db.query<Event>(`${COLUMNS} WHERE starts > now() ORDER BY starts LIMIT $1`, [limit]);
    return found.rows;
  }

  /** The next events at a venue. */
  async atVenue(venue: string, limit: number): Promise<Event[]> {
    const where = `WHERE starts > now() AND venue = '${venue}'`;
    const found = await this.db.query<Event>(`${COLUMNS} ${where} ORDER BY starts LIMIT $1`, [limit]);
    return found.rows;
  }
}
