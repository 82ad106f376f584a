// Whether what an extension sends is what the protocol allows: the schemas of writers, in which every field is known.
import { Frame, writeFault } from '@tenon/protocol/sep';
import { limits, type SepMethodName } from '@tenon/protocol/sep/wire';
import { explain } from '@tenon/protocol';

/** Each says what is wrong, or undefined. */
export interface FrameCheck {
  /** A line as it came: one frame, and nothing beside what frames have. */
  line(line: string): string | undefined;
  params(method: SepMethodName, params: unknown): string | undefined;
  result(method: SepMethodName, result: unknown): string | undefined;
}

export const frameCheck: FrameCheck = {
  line(line) {
    const bytes = Buffer.byteLength(line);
    if (bytes > limits.lineBytes.value) return `It has written a line of ${bytes} bytes; a host reads ${limits.lineBytes.value}`;
    let frame: unknown;
    try {
      frame = JSON.parse(line);
    } catch {
      return `It has written a line that is not JSON: ${line.slice(0, EXCERPT)}`;
    }
    const fault = explain(Frame, frame, 'frame');
    return fault && `It has written what is not a frame (${fault}): ${line.slice(0, EXCERPT)}`;
  },
  params: (method, params) => described(method, writeFault(method, 'params', params)),
  result: (method, result) => described(method, writeFault(method, 'result', result)),
};

const EXCERPT = 160;

function described(method: string, fault: string | undefined): string | undefined {
  return fault && `${method}: ${fault}`;
}
