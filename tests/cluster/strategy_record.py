class Recorder: pass
