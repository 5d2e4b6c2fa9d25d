// SPDX-License-Identifier: MIT-0
import com.sun.tools.attach.AttachNotSupportedException;
import com.sun.tools.attach.VirtualMachine;
import java.io.IOException;
import javax.management.Attribute;
import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/** Gives a service more carriers, on JDK 24 or newer: {@code java Carriers.java PID 8}. */
class Carriers {
    public static void main(String[] args) throws Exception {
        if (args.length != 2 || !args[1].matches("[1-9]\\d{0,4}"))
            stop("try java Carriers.java PID 8");
        try {
            String address = VirtualMachine.attach(args[0]).startLocalManagementAgent();
            try (var jmx = JMXConnectorFactory.connect(new JMXServiceURL(address))) {
                give(jmx.getMBeanServerConnection(), Integer.parseInt(args[1]));
            }
        } catch (InstanceNotFoundException e) {
            stop("that JVM can't, as it's older than 24");
        } catch (AttachNotSupportedException | IOException e) {
            stop("" + e);
        }
    }

    static void stop(String why) {
        System.err.println("Carriers: " + why);
        System.exit(2);
    }

    /**
     * The scheduler starts or wakes a carrier only if it's to have more than it has threads.
     * Once it has added some, as for DNS, these idle, and it has enough; so ask for one more.
     */
    static void give(MBeanServerConnection jvm, int carriers) throws IOException, JMException {
        var scheduler = new ObjectName("jdk.management:type=VirtualThreadScheduler");
        int now = (Integer) jvm.getAttribute(scheduler, "Parallelism");
        int threads = (Integer) jvm.getAttribute(scheduler, "PoolSize");
        if (now < carriers && carriers <= threads)
            jvm.setAttribute(scheduler, new Attribute("Parallelism", threads + 1));
        jvm.setAttribute(scheduler, new Attribute("Parallelism", carriers));
    }
}
