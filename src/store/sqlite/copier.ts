/** The thread in which a backup is written or restored, so that the command can show how far it is. */
import { runTask, type Task } from './backup.ts';

declare const self: Worker;

self.onmessage = ({ data }: MessageEvent<Task>) => self.postMessage(runTask(data));
