export interface Tile {
  readonly zoom: number;
  readonly column: number;
  readonly row: number;
}

const STREETS = 'https://tiles.maps.example/streets';

function pathOf(tile: Tile): string {
  return `${tile.zoom}/${tile.column}/${tile.row}.png`;
}

/** Fetch a tile of the street map. */
export async function streetTile(tile: Tile): Promise<Uint8Array> {
  return download(`${STREETS}/${pathOf(tile)}`, {});
}

async function download(url: string, headers: Record<string, string>): Promise<Uint8Array> {
  const answer = await fetch(url, { headers });
  if (!answer.ok) {
    throw new Error(`tile server answered ${answer.status}`);
  }
  return new Uint8Array(await answer.arrayBuffer());
}
